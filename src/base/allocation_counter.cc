// Global operator new and delete over malloc, with a count a thread.
#include "base/allocation_counter.h"

#include <cstddef>
#include <cstdlib>
#include <new>

namespace tocsin {
namespace {

thread_local std::uint64_t thread_allocation_count = 0;

void* counted_allocate_or_null(std::size_t size, std::size_t alignment) noexcept {
  ++thread_allocation_count;
  if (size == 0) size = 1;
  return alignment <= alignof(std::max_align_t)
             ? std::malloc(size)
             : std::aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
}

void* counted_allocate(std::size_t size, std::size_t alignment) {
  void* memory = counted_allocate_or_null(size, alignment);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

}  // namespace

std::uint64_t allocation_count() noexcept { return thread_allocation_count; }

}  // namespace tocsin

void* operator new(std::size_t size) { return tocsin::counted_allocate(size, 1); }
void* operator new[](std::size_t size) { return tocsin::counted_allocate(size, 1); }
void* operator new(std::size_t size, std::align_val_t alignment) {
  return tocsin::counted_allocate(size, static_cast<std::size_t>(alignment));
}
void* operator new[](std::size_t size, std::align_val_t alignment) {
  return tocsin::counted_allocate(size, static_cast<std::size_t>(alignment));
}
// The nothrow forms too: a sanitizer has its own, whose memory our delete may not free.
void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  return tocsin::counted_allocate_or_null(size, 1);
}
void* operator new[](std::size_t size, const std::nothrow_t&) noexcept {
  return tocsin::counted_allocate_or_null(size, 1);
}
void* operator new(std::size_t size, std::align_val_t alignment, const std::nothrow_t&) noexcept {
  return tocsin::counted_allocate_or_null(size, static_cast<std::size_t>(alignment));
}
void* operator new[](std::size_t size, std::align_val_t alignment, const std::nothrow_t&) noexcept {
  return tocsin::counted_allocate_or_null(size, static_cast<std::size_t>(alignment));
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }
