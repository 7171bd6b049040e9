// The system call that exchanges two names, replaced for the whole test program: a test says with
// which error it fails. Read next: exchange_test.cc, which defines the call; fixed_folder_test.cc.
#pragma once

namespace headlab {

/// The error with which the next calls of renameat2() fail; 0: the system carries them out.
inline int exchange_error = 0;

}  // namespace headlab
