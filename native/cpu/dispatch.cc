#include "dispatch.h"

#include "minform/credit.h"
#include "minform/logprob.h"

namespace minform {

MINFORM_DISPATCH(credit, CreditKernels)
MINFORM_DISPATCH(logprob, LogProbKernels)

}  // namespace minform
