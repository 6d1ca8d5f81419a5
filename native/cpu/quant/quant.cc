// The kernel table of the family.
#include "minform/quant.h"

#include "lanes.h"

namespace minform {
namespace MINFORM_ISA {

template <class T>
int64_t quantizeRows(const Matrix&, const QuantizedRows&, const CancelFlag&);

void quantTable(QuantKernels<float>& kernels) { kernels.quantizeRows = quantizeRows<float>; }
void quantTable(QuantKernels<double>& kernels) { kernels.quantizeRows = quantizeRows<double>; }

}  // namespace MINFORM_ISA
}  // namespace minform
