import { initContainerEntry } from "federation-container-entry";

/**
 * The runtime keeps the promise of a shared package that comes later, even one that failed: it is forgotten, so that the
 * next screen that needs the package asks for it again.
 */
const forgetFailed = {
  name: "forget-failed",
  errorLoadShare({ pkgName, shareScopeMap }) {
    for (const scope of Object.values(shareScopeMap)) {
      for (const shared of Object.values(scope[pkgName] ?? {})) {
        if (!shared.loaded) shared.loading = null;
      }
    }
  },
};

/**
 * A plugin of the host's federation runtime: gives the code that every entry would otherwise bring along to the entries of
 * the remotes, which take it in take-federation.mjs. Its one state is the instance of whoever asked first: the host.
 */
export default function giveFederation() {
  const { runtime, bundlerRuntime, attachShareScopeMap } = __webpack_require__.federation;
  // The package's own `init` would put the remote's instance in the place of the host's.
  const init = (options) => {
    const whole = { ...options, id: options.id ?? "", plugins: [...(options.plugins ?? []), forgetFailed] };
    const known = runtime.getInstance((instance) => instance.options.name === options.name);
    if (known === null) return runtime.createInstance(whole);
    known.initOptions(whole); // an entry that runs again, after its first load failed half way
    return known;
  };
  globalThis.relicarioFederation = { runtime: { ...runtime, init }, bundlerRuntime: { ...bundlerRuntime, initContainerEntry }, attachShareScopeMap };
  return { ...forgetFailed, name: "give-federation" };
}
