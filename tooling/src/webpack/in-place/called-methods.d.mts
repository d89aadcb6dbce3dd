/** See called-methods.mjs: a webpack loader. */
declare function leaveOutMethods(this: { getOptions: () => { readonly called: readonly string[] } }, source: string): string;
export default leaveOutMethods;
