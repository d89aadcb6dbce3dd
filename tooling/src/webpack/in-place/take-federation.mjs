/** In a remote, in the place of the federation runtime: what the host gave in give-federation.mjs. */
export default { ...globalThis.relicarioFederation, bundlerRuntimeOptions: {} };
