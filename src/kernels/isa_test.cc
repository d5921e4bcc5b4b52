#include "kernels/isa.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

namespace tocsin {
namespace {

class IsaRequest : public ::testing::Test {
 protected:
  void SetUp() override {
    const char* value = std::getenv("TOCSIN_ISA");
    had_value_ = value != nullptr;
    if (had_value_) value_ = value;
  }
  void TearDown() override {
    if (had_value_)
      setenv("TOCSIN_ISA", value_.c_str(), 1);
    else
      unsetenv("TOCSIN_ISA");
  }

 private:
  bool had_value_ = false;
  std::string value_;
};

TEST_F(IsaRequest, EveryAvailableNameIsTaken) {
  for (const Isa isa : available_isas()) {
    setenv("TOCSIN_ISA", std::string(isa_name(isa)).c_str(), 1);
    const auto requested = requested_isa();
    ASSERT_TRUE(requested.ok());
    EXPECT_EQ(requested.value(), isa);
  }
}

TEST_F(IsaRequest, WithoutTheVariableTheWidestIsTaken) {
  unsetenv("TOCSIN_ISA");
  ASSERT_TRUE(requested_isa().ok());
  EXPECT_EQ(requested_isa().value(), available_isas().back());
  setenv("TOCSIN_ISA", "", 1);
  EXPECT_EQ(requested_isa().value(), available_isas().back());
}

TEST_F(IsaRequest, UnknownNameIsAnErrorThatListsTheKnownOnes) {
  setenv("TOCSIN_ISA", "mmx", 1);
  const auto requested = requested_isa();
  ASSERT_FALSE(requested.ok());
  EXPECT_EQ(requested.error().code(), ErrorCode::kInvalidArgument);
  EXPECT_NE(requested.error().message().find("default, avx2, avx_vnni, avx512, avx512_vnni or amx"),
            std::string::npos);
}

TEST_F(IsaRequest, TheChoiceIsMadeOnce) {
  const std::string before(selected_isa());
  setenv("TOCSIN_ISA", before == "default" ? "avx2" : "default", 1);
  EXPECT_EQ(selected_isa(), before);
}

TEST(Isa, DefaultIsAlwaysAvailable) {
  ASSERT_FALSE(available_isas().empty());
  EXPECT_EQ(available_isas().front(), Isa::kDefault);
}

}  // namespace
}  // namespace tocsin
