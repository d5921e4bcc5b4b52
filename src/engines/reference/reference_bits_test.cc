// The bits of the bundled models' outputs, as they are on record: the same on every machine and on
// every instruction set (CMakeLists.txt runs this once for each).
#include <gtest/gtest.h>

#include <bit>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <ios>
#include <sstream>
#include <string>
#include <vector>

#include "engines/reference/float_model.h"
#include "engines/reference/reference_engine.h"
#include "kernels/isa.h"
#include "support/data_path.h"

namespace tocsin {
namespace {

// Lines of: model file, batch, steps, the outputs' bits in hexadecimal.
TEST(ReferenceBits, AreThoseOnRecord) {
  const auto isa = requested_isa();
  if (!isa.ok() && isa.error().code() == ErrorCode::kUnavailable)
    GTEST_SKIP() << isa.error().message();
  ASSERT_TRUE(isa.ok()) << isa.error().message();
  std::ifstream file(tocsin_source_path("tests/data/engines/expected_bits.txt"));
  std::size_t count = 0;
  for (std::string line; std::getline(file, line); ++count) {
    std::istringstream fields(line);
    std::string name;
    SessionOptions options;
    fields >> name >> options.batch_max >> options.steps >> std::hex;
    std::vector<std::uint32_t> expected;
    for (std::uint32_t bits = 0; fields >> bits;) expected.push_back(bits);
    auto session =
        ReferenceEngine().load(tocsin_source_path("tests/data/engines/" + name), options);
    ASSERT_TRUE(session.ok()) << session.error().message();
    FloatModel model(std::move(*session), options.steps);
    model.set_batch(options.batch_max);
    const auto batch = static_cast<std::size_t>(options.batch_max);
    std::vector<float> input = formula_input(batch * model.input_width());
    std::vector<float> output(batch * model.output_width());
    ASSERT_TRUE(model.run(input, output)) << model.session().error().message();
    std::ostringstream actual;
    actual << name << ' ' << options.batch_max << ' ' << options.steps << std::hex;
    for (const float value : output) actual << ' ' << std::bit_cast<std::uint32_t>(value);
    EXPECT_EQ(actual.str(), line) << "on " << selected_isa();
  }
  EXPECT_EQ(count, 18U);
}

}  // namespace
}  // namespace tocsin
