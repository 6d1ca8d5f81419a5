#include "dispatch.h"

#include "minform/advantage.h"
#include "minform/credit.h"
#include "minform/presets.h"
#include "minform/logprob.h"
#include "minform/optim.h"
#include "minform/loss.h"
#include "minform/logprob.h"

namespace minform {

MINFORM_DISPATCH(credit, CreditKernels)
MINFORM_DISPATCH(presets, PresetKernels)
MINFORM_DISPATCH(advantage, AdvantageKernels)
MINFORM_DISPATCH(loss, LossKernels)
MINFORM_DISPATCH(optim, OptimKernels)
MINFORM_DISPATCH(loss, LossKernels)
MINFORM_DISPATCH(advantage, AdvantageKernels)
MINFORM_DISPATCH(logprob, LogProbKernels)
MINFORM_DISPATCH(advantage, AdvantageKernels)
MINFORM_DISPATCH(loss, LossKernels)
MINFORM_DISPATCH(optim, OptimKernels)

}  // namespace minform
