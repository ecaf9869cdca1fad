// SPDX-License-Identifier: MIT
#include "src/cli.h"

int main(int argc, char** argv) { return cellfs::RunCommandLine(argc, argv); }
