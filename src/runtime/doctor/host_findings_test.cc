#include "runtime/doctor/host_findings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "runtime/doctor/gpu_findings.h"

namespace tocsin {
namespace {

using testing::HasSubstr;

// A host of files in a temporary folder.
class HostFindings : public testing::Test {
 protected:
  void SetUp() override {
    const testing::TestInfo* test = testing::UnitTest::GetInstance()->current_test_info();
    root_ =
        std::filesystem::path(testing::TempDir()) / (std::string("tocsin_host_") + test->name());
    std::filesystem::remove_all(root_);
  }
  void TearDown() override { std::filesystem::remove_all(root_); }

  void put(const std::string& path, const std::string& text) const {
    const std::filesystem::path file = root_.string() + path;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << text;
  }

  HostFinding find(const std::string& name, const CpuList& usable = {0, 1, 2, 3}) const {
    for (const HostFinding& finding : host_findings(HostFiles(root_.string()), usable))
      if (finding.name == name) return finding;
    ADD_FAILURE() << "no finding '" << name << "'";
    return {};
  }

  std::filesystem::path root_;
};

TEST_F(HostFindings, HasNoFaultToFindWhereTheKernelTellsNothing) {
  for (const HostFinding& finding : host_findings(HostFiles(root_.string()), {0, 1})) {
    EXPECT_TRUE(finding.ok || finding.name == "isa") << finding.name;
    EXPECT_FALSE(finding.found.empty()) << finding.name;
  }
  EXPECT_TRUE(numa_nodes(HostFiles(root_.string())).empty());
}

TEST_F(HostFindings, NamesModelFlagsAndTheMachineBelow) {
  put("/proc/cpuinfo",
      "processor\t: 0\nmodel name\t: A CPU 9000\ncpu MHz\t\t: 2599.998\n"
      "flags\t\t: fpu avx2 fma avx512_vnni hypervisor\n\nprocessor\t: 1\nmodel name\t: B\n");
  EXPECT_THAT(find("cpu").found, HasSubstr("A CPU 9000; avx2 fma avx512_vnni; a virtual machine"));
  EXPECT_THAT(find("governor").found, HasSubstr("2599.998 MHz"));
}

TEST_F(HostFindings, WantsTwoCpus) {
  put("/sys/devices/system/cpu/online", "0-7\n");
  EXPECT_THAT(find("cpus").found, HasSubstr("4 of 8 online: 0-3"));
  EXPECT_TRUE(find("cpus").ok);
  EXPECT_FALSE(find("cpus", {5}).ok);
}

TEST_F(HostFindings, ListsSiblingsOnceAndOnlyThoseThatMayBeUsed) {
  for (const int cpu : {0, 2})
    put("/sys/devices/system/cpu/cpu" + std::to_string(cpu) + "/topology/thread_siblings_list",
        "0,2\n");
  put("/sys/devices/system/cpu/cpu1/topology/thread_siblings_list", "1,9\n");
  const HostFinding finding = find("smt");
  EXPECT_EQ(finding.found, "CPUs that share a core: 0,2");
  EXPECT_THAT(finding.advice, HasSubstr("runtime.cpu"));
  EXPECT_EQ(find("smt", {0, 1}).advice, "");
}

TEST_F(HostFindings, AdvisesOneNodeWhereTheProcessSpansTwo) {
  put("/sys/devices/system/node/node0/cpulist", "0-1\n");
  put("/sys/devices/system/node/node0/distance", "10 21\n");
  put("/sys/devices/system/node/node1/cpulist", "2-3\n");
  put("/sys/devices/system/node/node1/distance", "21 10\n");
  put("/sys/devices/system/node/possible", "0-1\n");
  const std::vector<NumaNode> nodes = numa_nodes(HostFiles(root_.string()));
  ASSERT_EQ(nodes.size(), 2U);
  EXPECT_EQ(nodes[1].cpus, (CpuList{2, 3}));
  EXPECT_EQ(nodes[1].distances, (std::vector<int>{21, 10}));
  EXPECT_THAT(find("numa").advice, HasSubstr("--membind=0"));
  EXPECT_EQ(find("numa", {2, 3}).advice, "");
}

TEST_F(HostFindings, WantsThePerformanceGovernorOnEveryCpu) {
  for (int cpu = 0; cpu < 4; ++cpu)
    put("/sys/devices/system/cpu/cpu" + std::to_string(cpu) + "/cpufreq/scaling_governor",
        cpu == 3 ? "powersave\n" : "performance\n");
  put("/sys/devices/system/cpu/cpu3/cpufreq/scaling_cur_freq", "800000\n");
  EXPECT_FALSE(find("governor").ok);
  EXPECT_THAT(find("governor").found, HasSubstr("performance, powersave; 800 to 800 MHz"));
  EXPECT_TRUE(find("governor", {0, 1, 2}).ok);
}

TEST_F(HostFindings, PointsToTheIsolatedCpus) {
  EXPECT_THAT(find("isolation").advice, HasSubstr("isolcpus=3"));
  put("/sys/devices/system/cpu/isolated", "2-3\n");
  put("/sys/devices/system/cpu/nohz_full", "2-3\n");
  EXPECT_THAT(find("isolation").advice, HasSubstr("one of 2-3"));
}

TEST_F(HostFindings, ReadsHugePages) {
  put("/sys/kernel/mm/transparent_hugepage/enabled", "[always] madvise never\n");
  put("/proc/meminfo",
      "HugePages_Total:     512\nHugePages_Free:      500\nHugepagesize:       2048 kB\n");
  EXPECT_EQ(find("huge_pages").found, "transparent: always; reserved: 512 of 2048 kB, 500 free");
  EXPECT_THAT(find("huge_pages").advice, HasSubstr("madvise"));
  put("/sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never\n");
  EXPECT_EQ(find("huge_pages").advice, "");
}

TEST_F(HostFindings, FindsTheQuotaOfAnyParentGroupOfVersionTwo) {
  put("/proc/self/cgroup", "0::/pod/container\n");
  put("/sys/fs/cgroup/pod/container/cpu.max", "max 100000\n");
  EXPECT_TRUE(find("cpu_quota").ok);
  put("/sys/fs/cgroup/pod/cpu.max", "150000 100000\n");
  EXPECT_FALSE(find("cpu_quota").ok);
  EXPECT_THAT(find("cpu_quota").found, HasSubstr("1.50 CPUs"));
  EXPECT_TRUE(find("cpu_quota", {0}).ok);
}

TEST_F(HostFindings, FindsTheQuotaOfVersionOne) {
  put("/proc/self/cgroup", "4:cpuset:/elsewhere\n3:cpuacct,cpu:/box\n0::/\n");
  put("/sys/fs/cgroup/cpu/box/cpu.cfs_quota_us", "-1\n");
  put("/sys/fs/cgroup/cpu/box/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(find("cpu_quota").found, "no limit");
  put("/sys/fs/cgroup/cpu/box/cpu.cfs_quota_us", "50000\n");
  EXPECT_THAT(find("cpu_quota").found, HasSubstr("0.50 CPUs"));
}

TEST_F(HostFindings, MindsSwapThatIsInUse) {
  put("/proc/meminfo", "SwapTotal:  2097152 kB\nSwapFree:   2097152 kB\n");
  EXPECT_TRUE(find("swap").ok);
  EXPECT_THAT(find("swap").advice, HasSubstr("runtime.lock_memory"));
  put("/proc/meminfo", "SwapTotal:  2097152 kB\nSwapFree:   1048576 kB\n");
  EXPECT_FALSE(find("swap").ok);
  EXPECT_EQ(find("swap").found, "2048 MiB, 1024 MiB in use");
}

TEST_F(HostFindings, MindsAClockThatIsASystemCall) {
  const std::string path = "/sys/devices/system/clocksource/clocksource0/current_clocksource";
  put(path, "hpet\n");
  EXPECT_FALSE(find("clock_source").ok);
  put(path, "tsc\n");
  EXPECT_TRUE(find("clock_source").ok);
}

TEST_F(HostFindings, FindsTheCpusNearToAGpu) {
  const std::string folder = "/sys/bus/pci/devices/0000:0d:00.0/";
  put(folder + "numa_node", "1\n");
  put(folder + "local_cpulist", "8-15\n");
  put(folder + "current_link_speed", "32.0 GT/s PCIe\n");
  put(folder + "current_link_width", "16\n");
  GpuFacts facts;
  facts.devices.resize(2);
  facts.devices[0].name = "GPU of the test";
  facts.devices[0].pci_bus_id = "0000:0d:00.0";
  facts.devices[0].capability_major = 9;
  facts.devices[0].memory_bytes = std::uint64_t{80} << 30;
  facts.devices[1].pci_bus_id = "0000:0e:00.0";
  facts.devices[1].mig_enabled = true;
  const auto places = gpu_places(HostFiles(root_.string()), facts);
  ASSERT_EQ(places.size(), 2U);
  EXPECT_EQ(places[0].node, 1);
  EXPECT_EQ(places[0].cpus, (CpuList{8, 9, 10, 11, 12, 13, 14, 15}));
  EXPECT_EQ(places[1].node, -1);
  const auto findings = gpu_findings(facts, places, {0, 1, 8});
  ASSERT_EQ(findings.size(), 2U);
  EXPECT_EQ(findings[0].name, "gpu0");
  EXPECT_EQ(findings[0].found,
            "GPU of the test, compute capability 9.0, 80 GiB, whole at 0000:0d:00.0, "
            "32.0 GT/s PCIe x16, NUMA node 1, near to CPUs 8-15");
  EXPECT_TRUE(findings[0].ok);
  EXPECT_THAT(findings[1].found, HasSubstr("divided (MIG) at 0000:0e:00.0"));
  const auto far = gpu_findings(facts, places, {0, 1});
  EXPECT_FALSE(far[0].ok);
  EXPECT_THAT(far[0].advice, HasSubstr("taskset -c 8-15"));
  EXPECT_TRUE(far[1].ok);
}

TEST_F(HostFindings, WithoutAGpuSaysWhyAndFindsNoFault) {
  const auto findings =
      gpu_findings(Error(ErrorCode::kUnavailable, "no NVIDIA driver is installed"), {}, {0});
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].found, "no NVIDIA driver is installed");
  EXPECT_TRUE(findings[0].ok);
}

}  // namespace
}  // namespace tocsin
