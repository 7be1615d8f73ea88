abi <abi/4.0>,
include <tunables/global>

profile eclusa @PROGRAM@ flags=(unconfined) {
  userns,
}
