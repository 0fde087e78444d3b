# Writes kith.1 and kith-NAME.1 of every command into `folder`, as `command` prints them, packed where gzip is there.
execute_process(COMMAND "${command}" man OUTPUT_VARIABLE overview COMMAND_ERROR_IS_FATAL ANY)
file(REMOVE_RECURSE "${folder}")
file(WRITE "${folder}/kith.1" "${overview}")
string(REGEX MATCHALL "\\.BR kith\\\\-[a-z]+ " references "${overview}")
foreach(reference IN LISTS references)
  string(REGEX REPLACE ".*-([a-z]+) " "\\1" name "${reference}")
  execute_process(COMMAND "${command}" man ${name} OUTPUT_FILE "${folder}/kith-${name}.1" COMMAND_ERROR_IS_FATAL ANY)
endforeach()
find_program(KITH_GZIP gzip)
if(KITH_GZIP)
  file(GLOB pages "${folder}/*.1")
  execute_process(COMMAND "${KITH_GZIP}" -9nf ${pages} COMMAND_ERROR_IS_FATAL ANY)  # no time in it: the same bytes each time
endif()
