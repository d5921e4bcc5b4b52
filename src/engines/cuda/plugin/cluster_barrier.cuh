// Stores into another block's shared memory that a barrier there counts: whoever waits for the
// barrier sees them, without a fence over all memory and without a barrier of the whole cluster.
#pragma once

#include <cooperative_groups.h>

#include <cstdint>

namespace tocsin::cuda {

#ifdef __CUDACC__

// One a phase: an arrival of its own block that says how many bytes are to come.
class ArrivalBarrier {
 public:
  // By one thread, before a barrier of the cluster.
  __device__ void init() {
    asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(address()) : "memory");
  }
  // By one thread, once a phase.
  __device__ void expect(int bytes) {
    asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(address()), "r"(bytes)
                 : "memory");
  }
  // Until the phase of that parity is over.
  __device__ void wait(unsigned parity) {
    asm volatile(
        "{\n"
        ".reg .pred done;\n"
        "again:\n"
        "mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 done, [%0], %1;\n"
        "@done bra over;\n"
        "bra again;\n"
        "over:\n"
        "}" ::"r"(address()),
        "r"(parity)
        : "memory");
  }
  // Of the same barrier in block `rank` of the cluster.
  __device__ std::uint32_t remote(int rank) const { return remote_address(address(), rank); }

  __device__ static std::uint32_t remote_address(std::uint32_t local, int rank) {
    std::uint32_t remote = 0;
    asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(remote) : "r"(local), "r"(rank));
    return remote;
  }

 private:
  __device__ std::uint32_t address() const {
    return static_cast<std::uint32_t>(__cvta_generic_to_shared(&state_));
  }

  std::uint64_t state_;
};

// Writes four bytes to `target` of this block's shared memory as block `rank` has it.
__device__ inline void send_word(void* target, std::uint32_t value, const ArrivalBarrier& barrier,
                                 int rank) {
  const auto local = static_cast<std::uint32_t>(__cvta_generic_to_shared(target));
  asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.b32 [%0], %1, [%2];" ::"r"(
                   ArrivalBarrier::remote_address(local, rank)),
               "r"(value), "r"(barrier.remote(rank))
               : "memory");
}
__device__ inline void send(float* target, float value, const ArrivalBarrier& barrier, int rank) {
  send_word(target, __float_as_uint(value), barrier, rank);
}

#endif

}  // namespace tocsin::cuda
