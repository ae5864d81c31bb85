# For scripts about the Python package: an environment with the tools, and the wheel in it.

environment=$PWD/target/python

# python_environment: the environment with what the tests need, installed once per list of requirements.
python_environment() {
  need python3 python3
  local wanted=crates/python/tests/requirements.txt
  cmp -s "$wanted" "$environment/installed.txt" && return
  python3 -m venv "$environment" || provide python3-venv python3-venv
  [ -x "$environment/bin/pip" ] || python3 -m venv "$environment"
  "$environment/bin/pip" install --quiet -r "$wanted"
  cp "$wanted" "$environment/installed.txt"
}

# python_wheel PROFILE: builds the wheel into target/wheels and installs it.
python_wheel() {
  local wheels=$PWD/target/wheels
  rm -f "$wheels"/weir-*.whl
  VIRTUAL_ENV=$environment "$environment/bin/maturin" build --quiet --profile "$1" --out "$wheels" \
    --manifest-path crates/python/Cargo.toml --interpreter "$environment/bin/python"
  "$environment/bin/pip" install --quiet --no-deps --force-reinstall "$wheels"/weir-*.whl
}
