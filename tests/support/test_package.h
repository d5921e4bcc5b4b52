// Model packages made on the fly from the small models of tests/data/models, whole or with a fault.
#pragma once

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/digest.h"
#include "support/data_path.h"

namespace tocsin {

inline std::string read_test_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error("cannot read " + path.string());
  return std::string((std::istreambuf_iterator<char>(file)), {});
}

inline void write_test_file(const std::filesystem::path& path, std::string_view bytes) {
  std::filesystem::create_directories(path.parent_path());
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  if (!file.flush()) throw std::runtime_error("cannot write " + path.string());
}

// `text` with its seal line, whether or not it had one.
inline std::string sealed(std::string text) {
  if (const std::size_t seal = text.rfind("seal: "); seal != std::string::npos) text.resize(seal);
  return text + "seal: \"" + to_hex(digest_of(DigestKind::kSha256, text)) + "\"\n";
}

// `text` with `from` replaced by `to`; `from` must stand in it exactly once.
inline std::string replaced(std::string text, std::string_view from, std::string_view to) {
  const std::size_t at = text.find(from);
  if (at == std::string::npos || text.find(from, at + 1) != std::string::npos)
    throw std::runtime_error("not exactly once in the text: " + std::string(from));
  return text.replace(at, from.size(), to);
}

// What the packages of a fixture say of it, with the features that a test wants.
struct TestPackageParts {
  std::string fixture = "burst_lstm";          // folder in tests/data/models with model.onnx
  std::string samples_fixture = "burst_lstm";  // and with samples.npz
  std::vector<std::string> features = {"alpha", "beta", "gamma"};
  std::vector<int> feature_versions = {1, 1, 1};
  std::string schema_hash = std::string(64, 'a');
  std::string input_shape = "[-1, -1, 3]";
  std::string output_shape = "[-1, 1]";
  std::string mean = "[0.5, -1.0, 2.0]";
  std::string scale = "[2.0, 1.0, 0.25]";
  std::string steps = "60";
  std::string steps_allowed = "[30, 60, 120]";
  int output_index = 0;
};

// The package made from tests/data/models/calm_gru: fixed time axis, batch of one, two classes.
inline TestPackageParts calm_gru_parts() {
  TestPackageParts parts;
  parts.fixture = parts.samples_fixture = "calm_gru";
  parts.features = {"alpha", "beta"};
  parts.feature_versions = {1, 1};
  parts.input_shape = "[1, 20, 2]";
  parts.output_shape = "[1, 2]";
  parts.mean = "[0.0, 0.0]";
  parts.scale = "[1.0, 1.0]";
  parts.steps = "20";
  parts.steps_allowed = "[20]";
  parts.output_index = 1;
  return parts;
}

// A repository in a folder of its own, removed at the end, with one package "test_model/3".
class TestPackage {
 public:
  explicit TestPackage(TestPackageParts parts = {}) : parts_(std::move(parts)) {
    std::string pattern =
        (std::filesystem::temp_directory_path() / "tocsin-package-XXXXXX").string();
    if (mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("no temporary folder");
    repository_ = pattern;
    const std::filesystem::path models = tocsin_source_path("tests/data/models");
    write_test_file(folder() / "model.onnx",
                    read_test_file(models / parts_.fixture / "model.onnx"));
    write_test_file(folder() / "samples.npz",
                    read_test_file(models / parts_.samples_fixture / "samples.npz"));
    write_yaml(yaml());
  }
  ~TestPackage() {
    std::error_code error;
    std::filesystem::remove_all(repository_, error);
  }
  TestPackage(const TestPackage&) = delete;
  TestPackage& operator=(const TestPackage&) = delete;

  const std::filesystem::path& repository() const { return repository_; }
  std::filesystem::path folder() const { return repository_ / "test_model" / "3"; }

  void write_yaml(const std::string& text) const {
    write_test_file(folder() / "package.yaml", sealed(text));
  }

  // package.yaml for the files as they are now, without its seal.
  std::string yaml() const {
    std::string list;
    for (std::size_t i = 0; i < parts_.features.size(); ++i) {
      list += "    - {name: " + parts_.features[i] +
              ", version: " + std::to_string(parts_.feature_versions[i]) + "}\n";
    }
    return "format: 1\nname: test_model\nversion: 3\n"
           "description: a small model for tests\nlicence: MIT\n"
           "checksums:\n  model: \"" +
           checksum("model.onnx") + "\"\n  samples: \"" + checksum("samples.npz") +
           "\"\n"
           "inputs:\n  - {name: x, type: float32, shape: " +
           parts_.input_shape +
           "}\n"
           "outputs:\n  - {name: p, type: float32, shape: " +
           parts_.output_shape +
           "}\n"
           "output_index: " +
           std::to_string(parts_.output_index) +
           "\n"
           "features:\n  schema_hash: \"" +
           parts_.schema_hash + "\"\n  list:\n" + list + "normalisation:\n  mean: " + parts_.mean +
           "\n  scale: " + parts_.scale +
           "\n  clip: 8.0\n"
           "window:\n  steps: " +
           parts_.steps + "\n  steps_allowed: " + parts_.steps_allowed +
           "\n"
           "target:\n  move_ticks: 20\n  horizon_frames: 100\n"
           "decision:\n  threshold: 0.75\n  release_threshold: 0.5\n  alert_rate: 0.001\n"
           "samples:\n  tolerance: 1.0e-5\n"
           "seen:\n  - {source: day.gz, part: training, first_record: 1, last_record: 1000}\n"
           "evaluation:\n  - {name: roc_auc, data: \"day.gz, from 1001\", value: 0.75}\n";
  }

 private:
  std::string checksum(const char* file) const {
    const auto digest = sha256_of_file((folder() / file).string());
    if (!digest.ok()) throw std::runtime_error(digest.error().message());
    return to_hex(*digest);
  }

  TestPackageParts parts_;
  std::filesystem::path repository_;
};

}  // namespace tocsin
