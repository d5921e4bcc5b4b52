// A folder of its own below the temporary one.
#include "cli/shape_file.h"

#include <cstdlib>
#include <filesystem>
#include <memory>

#include "engines/graph/shape_model.h"

namespace tocsin {

ShapeFile::~ShapeFile() {
  std::error_code ignored;
  if (!folder_.empty()) std::filesystem::remove_all(folder_, ignored);
}

Result<BenchModel> ShapeFile::write(const std::string& name, std::uint64_t seed) {
  TOCSIN_ASSIGN_OR_RETURN(const ModelShape shape, model_shape_of(name));
  std::string folder = (std::filesystem::temp_directory_path() / "tocsin-shape-XXXXXX").string();
  if (mkdtemp(folder.data()) == nullptr)
    return Error(ErrorCode::kUnavailable, folder + ": could not be created");
  folder_ = folder;
  BenchModel model;
  model.name = name;
  model.onnx_path = folder + "/model.onnx";
  model.steps = shape.steps;
  model.activation_scales = std::make_shared<ActivationScales>(shape_model_scales(shape));
  TOCSIN_RETURN_IF_ERROR(write_shape_model(shape, seed, model.onnx_path));
  return model;
}

}  // namespace tocsin
