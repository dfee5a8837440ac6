#include "frontends/commands/Commands.h"

int main(int argc, char **argv) { return tess::commands::runCompile(argc, argv); }
