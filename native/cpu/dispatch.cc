#include "dispatch.h"

#include "minform/credit.h"
#include "minform/presets.h"

namespace minform {

MINFORM_DISPATCH(credit, CreditKernels)
MINFORM_DISPATCH(presets, PresetKernels)

}  // namespace minform
