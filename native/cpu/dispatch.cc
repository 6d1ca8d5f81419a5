#include "dispatch.h"

#include "minform/advantage.h"
#include "minform/credit.h"
#include "minform/logprob.h"

namespace minform {

MINFORM_DISPATCH(credit, CreditKernels)
MINFORM_DISPATCH(advantage, AdvantageKernels)
MINFORM_DISPATCH(logprob, LogProbKernels)

}  // namespace minform
