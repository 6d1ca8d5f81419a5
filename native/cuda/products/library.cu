// Products by cuBLASLt, opened at run time: this library has no dependency on it. Declared here is the part of its C
// interface that is used, which has been the same since version 11.
#include <atomic>
#include <cstdlib>
#include <cstring>

#include "products/product.h"

#if defined(__CUDACC__)
#include <dlfcn.h>

#include <map>
#include <mutex>
#include <tuple>
#endif

namespace minform::cuda {
namespace {

std::atomic<Products>& chosen() {
  static std::atomic<Products> products = [] {
    const char* text = std::getenv("MINFORM_CUDA_PRODUCTS");
    return text != nullptr && std::strcmp(text, "own") == 0 ? Products::own : Products::library;
  }();
  return products;
}

}  // namespace

void chooseProducts(Products products) { chosen() = products; }

#if defined(__CUDACC__)

namespace {

constexpr size_t kWorkspaceBytes = size_t{32} << 20;  // what cuBLAS asks for on sm_90

using Handle = void*;
struct Algorithm {
  uint64_t data[8];
};
struct Heuristic {
  Algorithm algorithm;
  size_t workspaceBytes;
  int status;
  float waves;
  int reserved[4];
};

enum DataType : int { kReal32 = 0, kReal64 = 1, kReal16 = 2, kReal16Brain = 14 };
enum ComputeType : int { kCompute32 = 68, kCompute64 = 70 };
enum DescriptionAttribute : int { kPointerMode = 2, kTransposeA = 3, kTransposeB = 4 };
enum PreferenceAttribute : int { kMaxWorkspace = 1, kReductions = 3, kAlignmentA = 5 };  // B, C and D follow A
constexpr int kPointersOnDevice = 1;
constexpr uint32_t kReduceInComputeType = 2;

class Library {
 public:
  // Null where there is none. Never closed: the driver may be gone by the time statics are.
  static Library* get() {
    static Library* const only = [] {
      auto* library = new Library;
      return library->open() ? library : nullptr;
    }();
    return only;
  }

  int64_t version() const { return static_cast<int64_t>(version_()); }

  // False when it has no algorithm for the product.
  template <class T>
  bool multiply(const Product<T>& product, Stream stream) {
    const Plan* plan = planOf(product);
    if (plan == nullptr) return false;
    const Buffer<uint8_t> workspace(static_cast<int64_t>(plan->heuristic.workspaceBytes), stream);
    const T one = 1, beta = product.accumulate ? 1 : 0;
    const void* factor = &one;
    const void* addend = &beta;
    if (product.scale != nullptr) {
      factor = product.scale;
      addend = product.scale + (product.accumulate ? 2 : 1);
    }
    check(matmul_(handle_, plan->description, factor, product.b.data, plan->b, product.a.data, plan->a, addend,
                  product.out, plan->out, product.out, plan->out, &plan->heuristic.algorithm, workspace.get(),
                  plan->heuristic.workspaceBytes, stream));
    return true;
  }

 private:
  // Sizes, leading dimensions, alignments and types: what an algorithm is chosen by.
  using Key = std::tuple<int64_t, int64_t, int64_t, int64_t, int64_t, int64_t, uint32_t, uint32_t, uint32_t, int, int>;
  struct Plan {
    Handle description = nullptr, a = nullptr, b = nullptr, out = nullptr;
    Heuristic heuristic{};
    bool found = false;
  };

  static void check(int status) {
    if (status != 0) throw Failure(Status::failed, "cuBLASLt: status " + std::to_string(status));
  }

  template <class Function>
  bool find(Function& function, const char* name) {
    function = reinterpret_cast<Function>(dlsym(library_, name));
    return function != nullptr;
  }

  bool open() {
    for (const char* name : {"libcublasLt.so.13", "libcublasLt.so.12", "libcublasLt.so.11", "libcublasLt.so"}) {
      library_ = dlopen(name, RTLD_NOW | RTLD_LOCAL);
      if (library_ != nullptr) break;
    }
    return library_ != nullptr && find(create_, "cublasLtCreate") && find(version_, "cublasLtGetVersion") &&
           find(describe_, "cublasLtMatmulDescCreate") && find(setDescription_, "cublasLtMatmulDescSetAttribute") &&
           find(layOut_, "cublasLtMatrixLayoutCreate") && find(prefer_, "cublasLtMatmulPreferenceCreate") &&
           find(setPreference_, "cublasLtMatmulPreferenceSetAttribute") &&
           find(dropPreference_, "cublasLtMatmulPreferenceDestroy") &&
           find(choose_, "cublasLtMatmulAlgoGetHeuristic") && find(matmul_, "cublasLtMatmul") && create_(&handle_) == 0;
  }

  static uint32_t alignmentOf(const void* data) {
    const auto address = reinterpret_cast<uintptr_t>(data);
    return address % 256 == 0 ? 256 : static_cast<uint32_t>(address & (~address + 1));
  }

  static DataType typeOf(Element element) {
    switch (element) {
      case Element::float64:
        return kReal64;
      case Element::bfloat16:
        return kReal16Brain;
      case Element::float16:
        return kReal16;
      default:
        return kReal32;
    }
  }

  // Plans are kept: choosing an algorithm costs more than a small product.
  template <class T>
  const Plan* planOf(const Product<T>& product) {
    const Operand &a = product.a, &b = product.b;
    const int flags = a.depthContiguous | b.depthContiguous << 1 | (product.scale != nullptr) << 2;
    const Key key{product.rows,
                  product.columns,
                  product.depth,
                  a.leading,
                  b.leading,
                  product.leading,
                  alignmentOf(a.data),
                  alignmentOf(b.data),
                  alignmentOf(product.out),
                  flags,
                  static_cast<int>(a.element)};
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto known = plans_.find(key);
    Plan& plan = known != plans_.end() ? known->second : plans_[key] = newPlan(product);
    return plan.found ? &plan : nullptr;
  }

  // The library's matrices are column by column: ours, read that way, are transposed, and out^T = b^T a^T.
  template <class T>
  Plan newPlan(const Product<T>& product) {
    const Operand &a = product.a, &b = product.b;
    const DataType real = sizeof(T) == sizeof(double) ? kReal64 : kReal32;
    const auto layOut = [&](const Operand& operand, int64_t wide) {
      Handle layout = nullptr;
      check(layOut_(&layout, typeOf(operand.element), operand.depthContiguous ? product.depth : wide,
                    operand.depthContiguous ? wide : product.depth, operand.leading));
      return layout;
    };
    Plan plan;
    plan.a = layOut(a, product.rows);
    plan.b = layOut(b, product.columns);
    check(layOut_(&plan.out, real, product.columns, product.rows, product.leading));
    check(describe_(&plan.description, sizeof(T) == sizeof(double) ? kCompute64 : kCompute32, real));
    const int32_t transposeFirst = b.depthContiguous, transposeSecond = !a.depthContiguous, mode = kPointersOnDevice;
    check(setDescription_(plan.description, kTransposeA, &transposeFirst, sizeof transposeFirst));
    check(setDescription_(plan.description, kTransposeB, &transposeSecond, sizeof transposeSecond));
    if (product.scale != nullptr) check(setDescription_(plan.description, kPointerMode, &mode, sizeof mode));

    Handle preference = nullptr;
    check(prefer_(&preference));
    const uint64_t workspace = kWorkspaceBytes;
    check(setPreference_(preference, kMaxWorkspace, &workspace, sizeof workspace));
    check(setPreference_(preference, kReductions, &kReduceInComputeType, sizeof kReduceInComputeType));
    const void* places[4] = {b.data, a.data, product.out, product.out};
    for (int i = 0; i < 4; i++) {
      const uint32_t alignment = alignmentOf(places[i]);
      check(setPreference_(preference, kAlignmentA + i, &alignment, sizeof alignment));
    }
    int count = 0;
    const int status =
        choose_(handle_, plan.description, plan.b, plan.a, plan.out, plan.out, preference, 1, &plan.heuristic, &count);
    plan.found = status == 0 && count == 1 && plan.heuristic.status == 0;
    dropPreference_(preference);
    return plan;
  }

  void* library_ = nullptr;
  Handle handle_ = nullptr;
  std::mutex mutex_;
  std::map<Key, Plan> plans_;
  int (*create_)(Handle*) = nullptr;
  size_t (*version_)() = nullptr;
  int (*describe_)(Handle*, int compute, int scale) = nullptr;
  int (*setDescription_)(Handle, int attribute, const void*, size_t) = nullptr;
  int (*layOut_)(Handle*, int type, uint64_t rows, uint64_t columns, int64_t leading) = nullptr;
  int (*prefer_)(Handle*) = nullptr;
  int (*setPreference_)(Handle, int attribute, const void*, size_t) = nullptr;
  int (*dropPreference_)(Handle) = nullptr;
  int (*choose_)(Handle, Handle description, Handle a, Handle b, Handle c, Handle d, Handle preference, int wanted,
                 Heuristic*, int* found) = nullptr;
  int (*matmul_)(Handle, Handle description, const void* alpha, const void* a, Handle layoutA, const void* b,
                 Handle layoutB, const void* beta, const void* c, Handle layoutC, void* d, Handle layoutD,
                 const Algorithm*, void* workspace, size_t workspaceBytes, Stream) = nullptr;
};

}  // namespace

template <class T>
bool multiplyByLibrary(const Product<T>& product, Stream stream) {
  if (chosen() == Products::own || product.a.element != product.b.element) return false;
  Library* library = Library::get();
  return library != nullptr && library->multiply(product, stream);
}

int64_t productsLibraryVersion() {
  Library* library = chosen() == Products::own ? nullptr : Library::get();
  return library == nullptr ? 0 : library->version();
}

#else  // the emulator has no such library

template <class T>
bool multiplyByLibrary(const Product<T>&, Stream) {
  return false;
}

int64_t productsLibraryVersion() { return 0; }

#endif

template bool multiplyByLibrary(const Product<float>&, Stream);
template bool multiplyByLibrary(const Product<double>&, Stream);

}  // namespace minform::cuda
