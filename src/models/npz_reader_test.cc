#include "models/npz_reader.h"

#include <archive.h>
#include <archive_entry.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "models/npy_header.h"
#include "support/data_path.h"
#include "support/test_package.h"

namespace tocsin {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::span<const std::byte> bytes_of(const std::string& text) {
  return std::as_bytes(std::span(text));
}

std::string float_bytes(const std::vector<float>& values) {
  std::string bytes(values.size() * sizeof(float), '\0');
  if (!values.empty()) std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

// As numpy.lib.format writes it: padded to 64 bytes, ended by a newline.
std::string npy(const std::string& header, const std::string& data, int major = 1) {
  const std::size_t length_bytes = major == 1 ? 2 : 4;
  std::string padded = header;
  while ((8 + length_bytes + padded.size() + 1) % 64 != 0) padded += ' ';
  padded += '\n';
  std::string length;
  for (std::size_t i = 0; i < length_bytes; ++i)
    length += static_cast<char>((padded.size() >> (8 * i)) & 0xFF);
  return std::string("\x93NUMPY") + static_cast<char>(major) + '\0' + length + padded + data;
}

std::string npy_2x2() {
  return npy("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 2), }",
             float_bytes({1, 2, 3, 4}));
}

struct Member {
  std::string name;
  std::string data;
};

std::string zip(const std::vector<Member>& members) {
  std::string buffer(1 << 20, '\0');
  std::size_t used = 0;
  archive* writer = archive_write_new();
  archive_write_set_format_zip(writer);
  archive_write_open_memory(writer, buffer.data(), buffer.size(), &used);
  for (const Member& member : members) {
    archive_entry* entry = archive_entry_new();
    archive_entry_set_pathname(entry, member.name.c_str());
    archive_entry_set_size(entry, static_cast<la_int64_t>(member.data.size()));
    archive_entry_set_filetype(entry, member.name.ends_with('/') ? AE_IFDIR : AE_IFREG);
    archive_entry_set_perm(entry, 0644);
    EXPECT_EQ(archive_write_header(writer, entry), ARCHIVE_OK);
    archive_write_data(writer, member.data.data(), member.data.size());
    archive_entry_free(entry);
  }
  archive_write_close(writer);
  archive_write_free(writer);
  buffer.resize(used);
  return buffer;
}

std::string npy_error(const std::string& bytes) {
  const auto array = read_npy(bytes_of(bytes));
  return array.ok() ? std::string("read") : array.error().message();
}

std::string npz_error(const std::string& bytes, const NpzLimits& limits = {}) {
  const auto arrays = read_npz(bytes_of(bytes), limits);
  return arrays.ok() ? std::string("read") : arrays.error().message();
}

TEST(NpyReader, ReadsBothVersions) {
  for (const int major : {1, 2}) {
    const auto array =
        read_npy(bytes_of(npy("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 1, 2), }",
                              float_bytes({1.5F, -2, 3, 1e-30F}), major)));
    ASSERT_TRUE(array.ok()) << array.error().message();
    EXPECT_THAT(array->shape, ElementsAre(2, 1, 2));
    EXPECT_THAT(array->values, ElementsAre(1.5F, -2.0F, 3.0F, 1e-30F));
  }
}

TEST(NpyReader, KeepsNanBits) {
  const float nan = std::nanf("0x123");
  const auto array = read_npy(bytes_of(
      npy("{'descr': '<f4', 'fortran_order': False, 'shape': (1,), }", float_bytes({nan}))));
  ASSERT_TRUE(array.ok());
  EXPECT_EQ(std::memcmp(array->values.data(), &nan, sizeof(nan)), 0);
}

TEST(NpyReader, RefusesWhatItDoesNotKnow) {
  const std::string one = float_bytes({1});
  EXPECT_THAT(npy_error("PK\x03\x04 not an array at all"), HasSubstr("expected a .npy file"));
  EXPECT_THAT(npy_error(npy("{'descr': '<f4', 'fortran_order': False, 'shape': (1,)}", one, 3)),
              HasSubstr("version 3.0"));
  EXPECT_THAT(npy_error(npy("{'descr': '>f4', 'fortran_order': False, 'shape': (1,)}", one)),
              HasSubstr("found '>f4'"));
  EXPECT_THAT(npy_error(npy("{'descr': '<f8', 'fortran_order': False, 'shape': (1,)}", one)),
              HasSubstr("found '<f8'"));
  EXPECT_THAT(npy_error(npy("{'descr': '<f4', 'fortran_order': True, 'shape': (1,)}", one)),
              HasSubstr("Fortran order"));
}

TEST(NpyReader, RefusesDataThatDoesNotFitTheShape) {
  const auto with_shape = [](const std::string& shape, const std::string& data) {
    return npy_error(npy("{'descr': '<f4', 'fortran_order': False, 'shape': " + shape + "}", data));
  };
  EXPECT_EQ(with_shape("()", float_bytes({1})), "read");
  EXPECT_EQ(with_shape("(0, 9223372036854775807)", ""), "read");
  EXPECT_THAT(with_shape("(2,)", float_bytes({1})), HasSubstr("not as long as its shape says"));
  EXPECT_THAT(with_shape("(1,)", float_bytes({1, 2})), HasSubstr("not as long"));
  EXPECT_THAT(with_shape("(4294967296, 4294967296, 4294967296)", ""), HasSubstr("not as long"));
  EXPECT_THAT(with_shape("(-1,)", float_bytes({1})), HasSubstr("expected a .npy header"));
}

TEST(NpyReader, RefusesEveryTruncation) {
  const std::string whole = npy_2x2();
  ASSERT_EQ(npy_error(whole), "read");
  for (std::size_t size = 0; size < whole.size(); ++size)
    EXPECT_NE(npy_error(whole.substr(0, size)), "read") << "cut to " << size;
}

TEST(NpyHeader, TakesKeysInAnyOrderAndEitherQuote) {
  const auto header =
      parse_npy_header("{\"shape\": (3,), 'fortran_order': True, 'descr': \"<i8\"}  \n");
  ASSERT_TRUE(header.ok()) << header.error().message();
  EXPECT_THAT(header->shape, ElementsAre(3));
  EXPECT_TRUE(header->fortran_order);
  EXPECT_EQ(header->type, "<i8");
}

TEST(NpyHeader, RefusesAnythingElse) {
  for (const char* text :
       {"", "{", "{}", "{'descr': '<f4', 'fortran_order': False}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (1)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (,)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (1,), 'shape': (1,)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (1,), 'more': 1}",
        "{'descr': '<f4', 'fortran_order': 0, 'shape': (1,)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (1,)} trailing",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,)}",
        "{'descr: <f4, 'fortran_order': False, 'shape': (1,)}"})
    EXPECT_FALSE(parse_npy_header(text).ok()) << text;
}

// The committed file is what Python's zipfile with deflate makes of NumPy's arrays.
TEST(NpzReader, ReadsWhatNumpyWrites) {
  const auto arrays = read_npz(
      bytes_of(read_test_file(tocsin_source_path("tests/data/models/burst_lstm/samples.npz"))));
  ASSERT_TRUE(arrays.ok()) << arrays.error().message();
  ASSERT_EQ(arrays->size(), 6U);
  EXPECT_EQ((*arrays)[0].name, "inputs_30");
  EXPECT_THAT((*arrays)[0].array.shape, ElementsAre(3, 30, 3));
  EXPECT_EQ((*arrays)[5].name, "outputs_120");
  EXPECT_THAT((*arrays)[5].array.shape, ElementsAre(3, 1));
  for (const float output : (*arrays)[5].array.values) {
    EXPECT_GT(output, 0.0F);
    EXPECT_LT(output, 1.0F);
  }
}

TEST(NpzReader, NamesTheMemberThatIsWrong) {
  EXPECT_EQ(npz_error(zip({{"a.npy", npy_2x2()}, {"b.npy", npy_2x2()}})), "read");
  EXPECT_THAT(npz_error(zip({{"a.npy", npy_2x2()}, {"a.npy", npy_2x2()}})),
              HasSubstr("two arrays named 'a'"));
  EXPECT_THAT(npz_error(zip({{"notes.txt", "hello"}})), HasSubstr("found 'notes.txt'"));
  EXPECT_THAT(npz_error(zip({{"folder.npy/", ""}})), HasSubstr("expected arrays"));
  EXPECT_THAT(npz_error(zip({{"a.npy", npy_2x2()}, {"b.npy", "junk"}})),
              HasSubstr("array 'b': expected a .npy file"));
  EXPECT_NE(npz_error("plain text"), "read");
}

TEST(NpzReader, KeepsToItsLimits) {
  const std::string two = zip({{"a.npy", npy_2x2()}, {"b.npy", npy_2x2()}});
  EXPECT_THAT(npz_error(two, {.array_count_max = 1}), HasSubstr("more than 1 arrays"));
  const std::size_t size_bytes = npy_2x2().size();
  EXPECT_EQ(npz_error(two, {.unpacked_bytes_max = 2 * size_bytes}), "read");
  EXPECT_THAT(npz_error(two, {.unpacked_bytes_max = 2 * size_bytes - 1}),
              HasSubstr("array 'b': unpacks to more than the limit"));
}

}  // namespace
}  // namespace tocsin
