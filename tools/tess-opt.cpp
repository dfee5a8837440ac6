#include "compiler/Opt.h"
#include "eager/classes/HostOptions.h"

int main(int argc, char **argv) { return tess::compiler::runOpt(argc, argv, tess::eager::hostOptions()); }
