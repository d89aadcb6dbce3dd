/** See left-out.mjs: a webpack loader, and what it leaves out. */
export declare const leftOut: Readonly<Record<string, readonly (readonly [first: string, instead?: string])[]>>;
declare function leaveOut(this: { readonly resourcePath: string }, source: string): string;
export default leaveOut;
