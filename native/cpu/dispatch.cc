#include "dispatch.h"

#include "minform/advantage.h"
#include "minform/credit.h"
#include "minform/logprob.h"
#include "minform/loss.h"
#include "minform/optim.h"
#include "minform/presets.h"
#include "minform/quant.h"
#include "minform/sampling.h"

namespace minform {

MINFORM_DISPATCH(advantage, AdvantageKernels)
MINFORM_DISPATCH(credit, CreditKernels)
MINFORM_DISPATCH(logprob, LogProbKernels)
MINFORM_DISPATCH(loss, LossKernels)
MINFORM_DISPATCH(optim, OptimKernels)
MINFORM_DISPATCH(presets, PresetKernels)
MINFORM_DISPATCH(quant, QuantKernels)
MINFORM_DISPATCH(sampling, SamplingKernels)

}  // namespace minform
