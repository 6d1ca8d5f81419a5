// Matrices of any element type as arguments.
#pragma once

#include "args.h"
#include "minform/matrix.h"

namespace minform {

inline Element elementKind(const Args& args, size_t index) {
  const int32_t kind = args.integer(index);
  if (kind < 0 || kind > static_cast<int32_t>(Element::float16)) args.fail(index, "is no element kind");
  return static_cast<Element>(kind);
}

inline void* elements(const Args& args, size_t index, Element element, int64_t length) {
  if (element == Element::float32) return args.array<float>(index, length);
  if (element == Element::float64) return args.array<double>(index, length);
  return args.array<uint16_t>(index, length);
}

inline void* outputElements(const Args& args, size_t index, Element element, int64_t length) {
  if (element == Element::float32) return args.output<float>(index, length);
  if (element == Element::float64) return args.output<double>(index, length);
  return args.output<uint16_t>(index, length);
}

inline int64_t extent(const Args& args, size_t index) {
  const double value = args.number(index);
  if (!(value >= 1 && value <= 2147483647)) args.fail(index, "is no extent");
  return static_cast<int64_t>(value);
}

// (data, element, rows, columns) from `index` on.
inline Matrix matrix(const Args& args, size_t index) {
  const Element element = elementKind(args, index + 1);
  const int64_t rows = extent(args, index + 2), columns = extent(args, index + 3);
  return {elements(args, index, element, rows * columns), element, rows, columns};
}

}  // namespace minform
