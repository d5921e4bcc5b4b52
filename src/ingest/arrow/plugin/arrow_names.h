// The types of Apache Arrow that headers name; who uses them includes Arrow's own headers.
#pragma once

namespace arrow {

class ArrayBuilder;
class RecordBatch;
class Schema;
class Status;
template <typename Value>
class Result;

namespace io {
class FileOutputStream;
}  // namespace io

}  // namespace arrow

namespace parquet::arrow {

class FileWriter;

}  // namespace parquet::arrow
