// Prints the first GPU as "<architecture>|<name>|<driver>"; without one the driver's reason, and exits with 3.
#include <cuda_runtime.h>

#include <cstdio>

int main() {
  int count = 0, driver = 0;
  cudaDeviceProp properties;
  cudaError_t error = cudaGetDeviceCount(&count);
  if (error == cudaSuccess && count == 0) error = cudaErrorNoDevice;
  if (error == cudaSuccess) error = cudaGetDeviceProperties(&properties, 0);
  if (error == cudaSuccess) error = cudaDriverGetVersion(&driver);
  if (error != cudaSuccess) {
    std::printf("%s: %s\n", cudaGetErrorName(error), cudaGetErrorString(error));
    return 3;
  }
  std::printf("%d%d|%s|%d.%d\n", properties.major, properties.minor, properties.name, driver / 1000,
              driver % 1000 / 10);
  return 0;
}
