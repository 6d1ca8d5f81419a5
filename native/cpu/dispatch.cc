#include "dispatch.h"

#include "minform/advantage.h"
#include "minform/credit.h"
#include "minform/presets.h"

namespace minform {

MINFORM_DISPATCH(credit, CreditKernels)
MINFORM_DISPATCH(presets, PresetKernels)
MINFORM_DISPATCH(advantage, AdvantageKernels)

}  // namespace minform
