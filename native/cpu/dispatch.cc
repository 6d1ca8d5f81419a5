#include "dispatch.h"

#include "minform/credit.h"
#include "minform/optim.h"
#include "minform/loss.h"

namespace minform {

MINFORM_DISPATCH(credit, CreditKernels)
MINFORM_DISPATCH(optim, OptimKernels)
MINFORM_DISPATCH(loss, LossKernels)

}  // namespace minform
