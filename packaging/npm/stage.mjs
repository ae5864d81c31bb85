// Lays out the packages of npm: stage.mjs FOLDER VERSION PLATFORM BINARY. `weir` has no binary and runs that of the package for the
// platform, which is installed beside it. It names no dependency: the names are not ours, and npm would fetch and run a stranger's.
import { chmodSync, copyFileSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const [folder, version, platform, binary] = process.argv.slice(2);
const here = (name) => fileURLToPath(new URL(name, import.meta.url));

function writePackage(name, fields, files) {
  const target = join(folder, name);
  mkdirSync(join(target, "bin"), { recursive: true });
  const common = { name, version, license: "Apache-2.0", engines: { node: ">=20" } };
  writeFileSync(join(target, "package.json"), `${JSON.stringify({ ...common, ...fields }, null, 2)}\n`);
  copyFileSync(here("../../LICENSE"), join(target, "LICENSE"));
  for (const [from, to] of files) {
    copyFileSync(from, join(target, to));
    chmodSync(join(target, to), to.startsWith("bin/") ? 0o755 : 0o644);
  }
}

const [os, cpu, libc] = platform.split("-");
writePackage(
  `weir-${platform}`,
  {
    description: `The command weir for ${platform}`,
    os: [os],
    cpu: [cpu],
    libc: [libc === "gnu" ? "glibc" : "musl"],
    preferUnplugged: true,
    files: ["bin"],
  },
  [[binary, "bin/weir"]],
);
writePackage(
  "weir",
  {
    description: "One GraphQL engine in front of databases and services",
    bin: { weir: "bin/weir.js" },
    files: ["bin"],
  },
  [
    [here("weir.js"), "bin/weir.js"],
    [here("README.md"), "README.md"],
  ],
);
