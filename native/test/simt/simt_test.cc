// The emulator catches what it is there to catch: each fault by a toy kernel that has it, beside a twin without it.
//   simt_test <name>: a case of one of the files beside this one
#include <string>

#include "cases.h"

using namespace minform::cuda;

int main(int count, char** names) {
  const std::string name = count > 1 ? names[1] : "";
  for (const Cases& cases : {memoryCases(), barrierCases(), warpCases(), raceCases(), launchCases()}) {
    for (const Case& test : cases) {
      if (name != test.name) continue;
      test.run();
      return checkResult();
    }
  }
  CHECK(!"a known test");
  return checkResult();
}
