/**
 * Packages that host and remotes share at run time. The host provides each package once and whole.
 * A remote bundles none of them, and refuses to start with a version that does not match.
 */
import surface from "./surface.json" with { type: "json" };

/** What the host provides of one module: its version and its exports. */
export interface SharedModule {
  readonly version: string;
  /** Lowest tested version with these exports. Remotes require it. */
  readonly floor: string;
  readonly exports: readonly string[];
  /** Names that the package exports but the host does not provide, each with the reason. */
  readonly withheld?: Readonly<Record<string, string>> | undefined;
}

/**
 * Shared modules by import specifier, such as `react-dom/client`. `pnpm surface` writes this list;
 * `pnpm check:surface` checks it.
 */
export const sharedModules: Readonly<Record<string, SharedModule>> = surface;

/**
 * Names of internal and experimental exports, which may change in any release. The list contains
 * none of them.
 */
export const unstableNames = /^(UNSAFE_|unstable_|experimental_|_[_A-Z])/;

/**
 * Modules that the host loads in separate scripts. Modules that import them cannot be eager either.
 */
const asyncPackages: readonly string[] = ["framer-motion", "@relicario/shared/ui", "@relicario/shared/forms"];

interface SharedPackage {
  readonly singleton: true;
  readonly requiredVersion: string;
  readonly eager?: boolean;
  readonly strictVersion?: boolean;
  readonly import?: string | false;
  readonly version?: string;
}

/**
 * Configuration of the modules that the host shares. `reExports`: module to use in place of a
 * package, by package name.
 */
export function sharedConfigForHost(reExports: Readonly<Record<string, string>> = {}): Record<string, SharedPackage> {
  return buildSharedConfig((name, version) => {
    const reExport = reExports[name];
    return { eager: !asyncPackages.includes(name), ...(reExport === undefined ? {} : { import: reExport, version }) };
  });
}

/**
 * Configuration of the modules that a remote takes from the host. There is no fallback, so that
 * there is never a second React.
 */
export function sharedConfigForRemote(): Record<string, SharedPackage> {
  return buildSharedConfig(() => ({ import: false, strictVersion: true }));
}

function buildSharedConfig(
  getOptions: (name: string, version: string) => Partial<SharedPackage>,
): Record<string, SharedPackage> {
  return Object.fromEntries(
    Object.entries(sharedModules).map(([name, { version, floor }]) => [
      name,
      { singleton: true, requiredVersion: `^${floor}`, ...getOptions(name, version) },
    ]),
  );
}
