/** In the place of federation's manifests and of its loading ahead by them: remotes are registered by their entries. */
export class SnapshotHandler {
  hooks = { lifecycle: {}, applyPlugin() {} };
  manifestCache = new Map();
}

export function getGlobalRemoteInfo() {
  return {};
}

function absent() {
  throw new TypeError("nothing is loaded ahead by manifests");
}
export { absent as formatPreloadArgs, absent as preloadAssets };
