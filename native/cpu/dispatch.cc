#include "dispatch.h"

#include "minform/credit.h"

namespace minform {

MINFORM_DISPATCH(credit, CreditKernels)

}  // namespace minform
