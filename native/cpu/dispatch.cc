#include "dispatch.h"

#include "minform/advantage.h"
#include "minform/credit.h"

namespace minform {

MINFORM_DISPATCH(credit, CreditKernels)
MINFORM_DISPATCH(advantage, AdvantageKernels)

}  // namespace minform
