/**
 * Sizes of the frame in pixels: sidebar widths, and the maximum width of a user name
 * (specification, section 2). Here and not in `frame`, because popups keep clear of its bars.
 */
export const frameSizes = { sidebar: 208, narrowSidebar: 64, userName: 115, mobileBar: 64, topBar: 56 } as const;
