/**
 * Ambient types that the declarations of @jsquash's codecs need but do not include. Only the parts
 * used here.
 */
declare namespace EmscriptenWasm {
  interface ModuleOpts {
    noInitialRun?: boolean;
    locateFile?: (path: string) => string;
    print?: (line: string) => void;
    printErr?: (line: string) => void;
    instantiateWasm?: (
      imports: WebAssembly.Imports,
      done: (instance: WebAssembly.Instance) => void,
    ) => WebAssembly.Exports;
  }
  interface Module {
    readonly HEAPU8: Uint8Array;
  }
  type ModuleFactory<T extends Module = Module> = (options?: ModuleOpts) => Promise<T>;
}
