/**
 * The one table of packages that host and remotes share at run time. The host brings each of them,
 * once and whole; a remote brings none, and refuses to start with a version that does not fit.
 */
import surface from "./surface.json" with { type: "json" };

/** What the host gives of one module: its version, and the names that it exports. */
export interface SharedModule {
  readonly version: string;
  readonly exports: readonly string[];
  /** Names that the package has and the host does not give, each with its reason. */
  readonly withheld?: Readonly<Record<string, string>> | undefined;
}

/**
 * The surface by the name that is imported, such as `react-dom/client`. Made by `pnpm surface`,
 * checked by `pnpm check:surface`.
 */
export const sharedModules: Readonly<Record<string, SharedModule>> = surface;

/**
 * What the host gives in scripts of their own, beside the first one; what imports one of them
 * cannot be eager either.
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
 * What the host shares. `reExports`: a module that stands for a package in the build, by the
 * package's name.
 */
export function sharedConfigForHost(reExports: Readonly<Record<string, string>> = {}): Record<string, SharedPackage> {
  return buildSharedConfig((name, version) => {
    const reExport = reExports[name];
    return { eager: !asyncPackages.includes(name), ...(reExport === undefined ? {} : { import: reExport, version }) };
  });
}

/**
 * What a remote takes from the host. Without a fallback of its own, so that a second React can
 * never appear.
 */
export function sharedConfigForRemote(): Record<string, SharedPackage> {
  return buildSharedConfig(() => ({ import: false, strictVersion: true }));
}

function buildSharedConfig(
  getOptions: (name: string, version: string) => Partial<SharedPackage>,
): Record<string, SharedPackage> {
  return Object.fromEntries(
    Object.entries(sharedModules).map(([name, { version }]) => [
      name,
      { singleton: true, requiredVersion: `^${version}`, ...getOptions(name, version) },
    ]),
  );
}
