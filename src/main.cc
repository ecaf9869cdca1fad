// SPDX-License-Identifier: MIT
#include "src/command_line.h"

int main(int argc, char** argv) { return cellfs::RunCommandLine(argc, argv); }
