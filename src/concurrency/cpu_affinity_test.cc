#include "concurrency/cpu_affinity.h"

#include <gtest/gtest.h>
#include <sched.h>

#include <thread>

namespace tocsin {
namespace {

TEST(CpuAffinity, ReadsListsAsTheKernelWritesThem) {
  EXPECT_EQ(*parse_cpu_list("0-3,8\n"), (CpuList{0, 1, 2, 3, 8}));
  EXPECT_EQ(*parse_cpu_list("5,1-2,2"), (CpuList{1, 2, 5}));
  EXPECT_EQ(*parse_cpu_list("\n"), CpuList{});
  EXPECT_EQ(*parse_cpu_list("65535"), CpuList{65535});
  EXPECT_EQ(cpu_list_text({0, 1, 2, 3, 8}), "0-3,8");
  EXPECT_EQ(cpu_list_text({}), "none");
}

TEST(CpuAffinity, RefusesWhatIsNoList) {
  for (const char* text : {"3-1", "a", "1,", ",1", "1--2", "-1", "0-", "65536", "1 2",
                           "99999999999999999999", "0-99999999"}) {
    const Result<CpuList> cpus = parse_cpu_list(text);
    ASSERT_FALSE(cpus.ok()) << text;
    EXPECT_EQ(cpus.error().code(), ErrorCode::kInvalidArgument);
    EXPECT_NE(cpus.error().message().find(text), std::string::npos);
  }
}

TEST(CpuAffinity, BindsTheCallingThreadAndThoseItStarts) {
  const CpuList before = usable_cpus();
  ASSERT_FALSE(before.empty());
  const CpuList last{before.back()};
  CpuList inside;
  CpuList child;
  std::thread([&] {
    ASSERT_TRUE(run_on_cpus(last).ok());
    inside = usable_cpus();
    EXPECT_EQ(::sched_getcpu(), before.back());
    std::thread([&] { child = usable_cpus(); }).join();
  }).join();
  EXPECT_EQ(inside, last);
  EXPECT_EQ(child, last);
  EXPECT_EQ(usable_cpus(), before);
}

TEST(CpuAffinity, NamesTheCpusThereAreWhenOneIsMissing) {
  const CpuList before = usable_cpus();
  const Status status = run_on_cpus({before.front(), 65'000});
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().code(), ErrorCode::kInvalidArgument);
  EXPECT_NE(status.error().message().find(cpu_list_text(before)), std::string::npos);
  EXPECT_FALSE(run_on_cpus({}).ok());
  EXPECT_EQ(usable_cpus(), before);
}

}  // namespace
}  // namespace tocsin
