// Loading a package: its folder, its files against their checksums, its samples.
#include "models/model_package.h"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <span>
#include <string_view>

#include "models/npz_reader.h"
#include "models/package_yaml.h"

namespace tocsin {
namespace {

namespace fs = std::filesystem;

constexpr const char* kPackageYaml = "package.yaml";
constexpr const char* kModelOnnx = "model.onnx";
constexpr const char* kSamplesNpz = "samples.npz";
constexpr std::size_t kSamplesFileBytesMax = std::size_t{256} << 20;
constexpr std::int64_t kSampleCountMax = 4096;
constexpr std::size_t kVersionDigitsMax = 18;  // fits 64 bits

Error broken(const std::string& reason) { return Error(ErrorCode::kFailedPrecondition, reason); }

// Triton's rule: digits only, no leading zero.
bool is_version_name(std::string_view name) {
  return !name.empty() && name.size() <= kVersionDigitsMax && name.front() != '0' &&
         std::ranges::all_of(name, [](char c) { return c >= '0' && c <= '9'; });
}

bool is_lower_version(const std::string& a, const std::string& b) {
  return a.size() != b.size() ? a.size() < b.size() : a < b;
}

Result<std::vector<std::string>> folder_entries(const std::string& folder) {
  std::error_code error;
  std::vector<std::string> names;
  fs::directory_iterator entry(folder, error);
  for (; !error && entry != fs::directory_iterator(); entry.increment(error))
    names.push_back(entry->path().filename().string());
  if (error) {
    const bool missing = error == std::errc::no_such_file_or_directory;
    return Error(missing ? ErrorCode::kNotFound : ErrorCode::kFailedPrecondition,
                 folder + ": " + error.message());
  }
  std::ranges::sort(names);
  return names;
}

Result<std::vector<std::string>> version_names(const std::string& folder) {
  TOCSIN_ASSIGN_OR_RETURN(std::vector<std::string> names, folder_entries(folder));
  std::erase_if(names, [&](const std::string& name) {
    std::error_code error;
    return !is_version_name(name) || !fs::is_directory(fs::path(folder) / name, error);
  });
  std::ranges::sort(names, is_lower_version);
  return names;
}

// <repository>/<name>/<version>, from itself or from <repository>/<name>; without a final slash.
Result<fs::path> version_folder(const std::string& folder) {
  fs::path path = fs::path(folder).lexically_normal();
  if (!path.has_filename()) path = path.parent_path();
  TOCSIN_ASSIGN_OR_RETURN(const std::vector<std::string> entries, folder_entries(path.string()));
  if (std::ranges::find(entries, kPackageYaml) != entries.end()) return path;
  TOCSIN_ASSIGN_OR_RETURN(const std::vector<std::string> versions, version_names(path.string()));
  if (!versions.empty()) return path / versions.back();
  return Error(ErrorCode::kNotFound,
               path.string() + ": expected package.yaml, or a folder named by a version");
}

Result<std::string> read_file(const fs::path& path, std::size_t size_bytes_max) {
  std::FILE* file = std::fopen(path.c_str(), "rb");
  if (file == nullptr) {
    return Error(errno == ENOENT ? ErrorCode::kNotFound : ErrorCode::kFailedPrecondition,
                 path.string() + ": " + std::strerror(errno));
  }
  constexpr std::size_t kChunkBytes = std::size_t{256} << 10;
  std::string bytes;
  std::size_t count = 0;
  do {
    const std::size_t before = bytes.size();
    bytes.resize(before + kChunkBytes);
    count = std::fread(bytes.data() + before, 1, kChunkBytes, file);
    bytes.resize(before + count);
  } while (count == kChunkBytes && bytes.size() <= size_bytes_max);
  const int read_error = std::ferror(file) != 0 ? errno : 0;
  std::fclose(file);
  if (read_error != 0) return broken(path.string() + ": " + std::strerror(read_error));
  if (bytes.size() > size_bytes_max) {
    return Error(ErrorCode::kResourceExhausted,
                 path.string() + ": larger than " + std::to_string(size_bytes_max) + " bytes");
  }
  return bytes;
}

// A pipe would be waited for, a device read without end.
Status check_regular(const fs::path& folder) {
  for (const char* name : {kPackageYaml, kModelOnnx, kSamplesNpz}) {
    std::error_code ignored;
    const fs::file_status status = fs::status(folder / name, ignored);
    if (fs::exists(status) && !fs::is_regular_file(status))
      return broken((folder / name).string() + ": is no regular file");
  }
  return {};
}

// A file that no checksum covers could be weights: external data of the model.
Status check_entries(const std::string& folder) {
  TOCSIN_ASSIGN_OR_RETURN(const std::vector<std::string> entries, folder_entries(folder));
  for (const std::string& entry : entries) {
    if (entry != kPackageYaml && entry != kModelOnnx && entry != kSamplesNpz)
      return broken("holds '" + entry + "', which no checksum covers");
  }
  return {};
}

Status check_checksum(const char* file, const Digest& found, const Digest& expected) {
  if (found == expected) return {};
  return broken(std::string(file) + ": its SHA-256 is " + to_hex(found) + ", package.yaml says " +
                to_hex(expected));
}

std::string shape_text(std::span<const std::int64_t> shape) {
  std::string text = "[";
  for (const std::int64_t dimension : shape)
    text += (text.size() > 1 ? ", " : "") + std::to_string(dimension);
  return text + "]";
}

// Takes the array of that name out of `arrays` and checks it: shape [n, row...], all values finite.
Result<SampleTensor> take_samples(std::vector<NamedNpyArray>& arrays, const std::string& name,
                                  std::span<const std::int64_t> row_shape) {
  const auto found = std::ranges::find(arrays, name, &NamedNpyArray::name);
  if (found == arrays.end()) return broken("expected an array '" + name + "', found none");
  SampleTensor samples{std::move(found->array.shape), std::move(found->array.values)};
  arrays.erase(found);
  const std::span<const std::int64_t> shape(samples.shape);
  if (shape.size() != row_shape.size() + 1 || !std::ranges::equal(shape.subspan(1), row_shape) ||
      shape[0] < 1 || shape[0] > kSampleCountMax) {
    std::vector<std::int64_t> expected = {-1};
    expected.insert(expected.end(), row_shape.begin(), row_shape.end());
    return broken("array '" + name + "': expected shape " + shape_text(expected) + " with 1 to " +
                  std::to_string(kSampleCountMax) + " samples, found " + shape_text(shape));
  }
  const auto bad =
      std::ranges::find_if(samples.values, [](float value) { return !std::isfinite(value); });
  if (bad != samples.values.end()) {
    const auto row = static_cast<std::size_t>(bad - samples.values.begin()) /
                     (samples.values.size() / static_cast<std::size_t>(shape[0]));
    return broken("array '" + name + "': sample " + std::to_string(row) + " is not finite");
  }
  return samples;
}

Status take_all_samples(std::vector<NamedNpyArray> arrays, ModelPackage& package) {
  const auto feature_count = static_cast<std::int64_t>(package.features.size());
  const std::int64_t columns = package.outputs.front().shape.back();
  for (const std::int64_t steps : package.steps_allowed) {
    const std::int64_t input_row[] = {steps, feature_count};
    const std::string suffix = "_" + std::to_string(steps);
    ModelSamples samples;
    samples.steps = steps;
    TOCSIN_ASSIGN_OR_RETURN(samples.inputs, take_samples(arrays, "inputs" + suffix, input_row));
    TOCSIN_ASSIGN_OR_RETURN(samples.outputs,
                            take_samples(arrays, "outputs" + suffix, std::span(&columns, 1)));
    if (samples.inputs.shape[0] != samples.outputs.shape[0]) {
      return broken("array 'outputs" + suffix + "': expected " +
                    std::to_string(samples.inputs.shape[0]) + " samples as in the inputs, found " +
                    std::to_string(samples.outputs.shape[0]));
    }
    const std::vector<float>& outputs = samples.outputs.values;
    for (std::size_t i = package.output_index; i < outputs.size();
         i += static_cast<std::size_t>(columns)) {
      if (outputs[i] < 0.0F || outputs[i] > 1.0F) {
        return broken("array 'outputs" + suffix + "': sample " +
                      std::to_string(i / static_cast<std::size_t>(columns)) +
                      " is no probability: " + std::to_string(outputs[i]));
      }
    }
    package.samples.push_back(std::move(samples));
  }
  if (!arrays.empty()) return broken("holds an array '" + arrays.front().name + "' too many");
  return {};
}

Status check_place(const fs::path& folder, const ModelPackage& package) {
  std::error_code error;
  fs::path whole = fs::absolute(folder, error).lexically_normal();
  if (!whole.has_filename()) whole = whole.parent_path();  // "." and "x/"
  const std::string version = whole.filename().string();
  const std::string name = whole.parent_path().filename().string();
  if (package.version != version) {
    return broken("package.yaml says version " + package.version + ", the folder is named '" +
                  version + "'");
  }
  if (package.name != name) {
    return broken("package.yaml says name '" + package.name + "', the folder above is named '" +
                  name + "'");
  }
  return {};
}

Result<ModelPackage> load_from(const fs::path& folder) {
  TOCSIN_RETURN_IF_ERROR(check_regular(folder));
  TOCSIN_ASSIGN_OR_RETURN(const std::string yaml,
                          read_file(folder / kPackageYaml, kPackageYamlBytesMax));
  const Result<Digest> seal = check_seal(yaml);
  if (!seal.ok()) return seal.error().within(kPackageYaml);
  TOCSIN_ASSIGN_OR_RETURN(ModelPackage package,
                          parse_package_yaml(yaml, (folder / kPackageYaml).string()));
  package.seal = *seal;
  package.folder = folder.string();
  package.onnx_path = (folder / kModelOnnx).string();
  TOCSIN_RETURN_IF_ERROR(check_place(folder, package));
  TOCSIN_RETURN_IF_ERROR(check_entries(package.folder));

  TOCSIN_ASSIGN_OR_RETURN(const Digest model_sha256, sha256_of_file(package.onnx_path));
  TOCSIN_RETURN_IF_ERROR(check_checksum(kModelOnnx, model_sha256, package.model_sha256));
  TOCSIN_ASSIGN_OR_RETURN(const std::string npz,
                          read_file(folder / kSamplesNpz, kSamplesFileBytesMax));
  TOCSIN_RETURN_IF_ERROR(
      check_checksum(kSamplesNpz, digest_of(DigestKind::kSha256, npz), package.samples_sha256));
  Result<std::vector<NamedNpyArray>> arrays = read_npz(std::as_bytes(std::span(npz)));
  if (!arrays.ok()) return arrays.error().within(kSamplesNpz);
  if (const Status status = take_all_samples(std::move(*arrays), package); !status.ok())
    return status.error().within(kSamplesNpz);
  return package;
}

}  // namespace

Result<ModelPackage> load_model_package(const std::string& folder) {
  TOCSIN_ASSIGN_OR_RETURN(const fs::path path, version_folder(folder));
  Result<ModelPackage> package = load_from(path);
  if (!package.ok()) return package.error().within("model package " + path.string());
  return package;
}

Result<std::vector<std::string>> find_model_packages(const std::string& repository) {
  TOCSIN_ASSIGN_OR_RETURN(const std::vector<std::string> names, folder_entries(repository));
  std::vector<std::string> folders;
  for (const std::string& name : names) {
    const fs::path model = fs::path(repository) / name;
    std::error_code error;
    if (!fs::is_directory(model, error)) continue;
    TOCSIN_ASSIGN_OR_RETURN(const std::vector<std::string> versions, version_names(model.string()));
    for (const std::string& version : versions) folders.push_back((model / version).string());
  }
  return folders;
}

}  // namespace tocsin
