#include "dispatch.h"

#include "minform/advantage.h"
#include "minform/credit.h"
#include "minform/loss.h"
#include "minform/optim.h"

namespace minform {

MINFORM_DISPATCH(credit, CreditKernels)
MINFORM_DISPATCH(advantage, AdvantageKernels)
MINFORM_DISPATCH(loss, LossKernels)
MINFORM_DISPATCH(optim, OptimKernels)

}  // namespace minform
