#include "dispatch.h"

#include "minform/credit.h"
#include "minform/optim.h"

namespace minform {

MINFORM_DISPATCH(credit, CreditKernels)
MINFORM_DISPATCH(optim, OptimKernels)

}  // namespace minform
