#pragma once

namespace relay::models {

// `relay import` and `relay export`: arguments as `main` has them. The exit code.
int run_import(int count, char** texts);
int run_export(int count, char** texts);

}  // namespace relay::models
