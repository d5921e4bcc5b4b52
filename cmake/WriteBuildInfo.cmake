# Writes build_info.h with the commit at hand; touches the file only when the commit has changed.
execute_process(COMMAND git -C "${SOURCE_DIR}" rev-parse --short=12 HEAD
  OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE failed)
if(failed)
  set(commit "unknown")
endif()
execute_process(COMMAND git -C "${SOURCE_DIR}" status --porcelain --untracked-files=no
  OUTPUT_VARIABLE changes OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
if(changes)
  string(APPEND commit "-modified")
endif()
file(CONFIGURE OUTPUT "${OUTPUT}" CONTENT
"// Generated at build time.
#pragma once

#define TOCSIN_COMMIT \"${commit}\"
#define TOCSIN_VERSION \"${VERSION}\"
")
