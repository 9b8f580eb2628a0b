#pragma once

// The one header of this project that others include, too.
#include "../include/relay_codegen.h"
