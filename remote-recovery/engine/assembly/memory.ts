/**
 * The memory map. Every address of the engine stands here, once. Offsets are bytes; the compiler
 * puts the literal tables of tables.ts at FIXED_END (asconfig.json: memoryBase), and the picture
 * lies behind them, sized for each call.
 *
 * Constant after start: DCT … COARSE_TRANSPOSED_INDEX. Everything else holds the picture, its bits,
 * or results; `wipe` fills it with zeros. Addresses that come from outside never occur: callers
 * write to and read from the areas named here, and every index they pass is checked where it is
 * used.
 */

/** Buckets: bits of a word of the code. */
export const BUCKET_COUNT: i32 = 2047;
/** DCT rows and columns kept, and cells per side. */
export const ROWS: i32 = 80;
export const CELLS: i32 = 128;
/** The same for the coarse search. */
export const COARSE_ROWS: i32 = 24;
export const COARSE_CELLS: i32 = 48;
/** Buckets whose four coordinates are below COARSE_ROWS. */
export const COARSE_BUCKET_COUNT: i32 = 206;
/** Sketches that one search looks for at the same time. */
export const SKETCH_SLOTS: i32 = 32;
export const CHOICE_BYTES: i32 = 256;
export const SYNDROME_BYTES: i32 = 86;
/**
 * Windows that the coarse search tries, and its entries for one sketch: each window upright and
 * transposed.
 */
export const COARSE_WINDOW_COUNT: i32 = 1296;
export const COARSE_ENTRY_COUNT: i32 = 2 * COARSE_WINDOW_COUNT;
/** Candidates that are refined. */
export const CANDIDATE_COUNT: i32 = 6;

// Tables, filled once at start.
export const DCT: usize = 1024; // f64[80][128], row k: cos(πk(2i+1)/256)·scale
export const DCT_TRANSPOSED: usize = DCT + 80 * 128 * 8; // f64[128][80], the same transposed
export const COARSE_DCT: usize = DCT_TRANSPOSED + 128 * 80 * 8; // f64[24][48]
export const COARSE_DCT_TRANSPOSED: usize = COARSE_DCT + 24 * 48 * 8; // f64[48][24]
export const EXP: usize = COARSE_DCT_TRANSPOSED + 48 * 24 * 8; // u16[4094], α^i twice over
export const LOG: usize = EXP + 4096 * 2; // u16[2048], LOG[0] unused
export const COARSE_BUCKETS: usize = LOG + 2048 * 2; // u16[206], bucket numbers
export const BUCKET_INDEX: usize = COARSE_BUCKETS + 208 * 2; // u16[2047][2], byte offset / 8 of C[v][u]
export const TRANSPOSED_INDEX: usize = BUCKET_INDEX + 2048 * 4; // u16[2047][2], of C[u][v]

/**
 * Rows 0, 2, … and 1, 3, … of DCT, their left half: the right one mirrors it, with the same or the
 * other sign.
 */
export const HALF_ROWS: i32 = 40;
export const HALF_CELLS: i32 = 64;
export const EVEN_DCT: usize = TRANSPOSED_INDEX + 2048 * 4; // f64[40][64]
export const ODD_DCT: usize = EVEN_DCT + 40 * 64 * 8;
export const EVEN_DCT_TRANSPOSED: usize = ODD_DCT + 40 * 64 * 8; // f64[64][40]
export const ODD_DCT_TRANSPOSED: usize = EVEN_DCT_TRANSPOSED + 64 * 40 * 8;
// u16[2047][2], as BUCKET_INDEX, where folded coefficients put C[v][u]
export const FOLDED_INDEX: usize = ODD_DCT_TRANSPOSED + 64 * 40 * 8;
export const FOLDED_TRANSPOSED_INDEX: usize = FOLDED_INDEX + 2048 * 4;
export const COARSE_INDEX: usize = FOLDED_TRANSPOSED_INDEX + 2048 * 4; // u16[206][2], byte offset / 8 of coarse C[v][u]
export const COARSE_TRANSPOSED_INDEX: usize = COARSE_INDEX + 208 * 4;

// Sketches looked for: written by the caller.
export const SKETCHES: usize = COARSE_TRANSPOSED_INDEX + 208 * 4; // 32 × (256 choice, 86 syndrome, 10 unused)
export const SKETCH_STRIDE: usize = 352;

// Results: read by the caller.
export const OUT_CHOICE: usize = SKETCHES + 32 * 352; // u8[256]
export const OUT_SYNDROME: usize = OUT_CHOICE + 256; // u8[86], two bytes unused
export const OUT_IMAGE_SECRET: usize = OUT_SYNDROME + 88; // u8[32]
export const OUT_MEASURES: usize = OUT_IMAGE_SECRET + 40; // f64[7]

// Work areas.
export const X_INTEGER: usize = OUT_MEASURES + 64; // i32[129], cell edges: whole part
export const X_FRACTION: usize = X_INTEGER + 136 * 4; // f64[129], their fraction
export const X_SIZE: usize = X_FRACTION + 136 * 8; // f64[128], cell sizes
export const Y_INTEGER: usize = X_SIZE + 136 * 8;
export const Y_FRACTION: usize = Y_INTEGER + 136 * 4;
export const Y_SIZE: usize = Y_FRACTION + 136 * 8;
// f64[129][129], area table at the cell corners; also scratch of the gate
export const CORNERS: usize = Y_SIZE + 136 * 8;
export const GRID: usize = CORNERS + 16648 * 8; // f64[128][128]
export const PARTIAL_PRODUCT: usize = GRID + 128 * 128 * 8; // f64[80][128] = D·L; f64[128][80] in the gate
export const COEFFICIENTS: usize = PARTIAL_PRODUCT + 80 * 128 * 8; // f64[80][80]
export const BAND: usize = COEFFICIENTS + 80 * 80 * 8; // f64[128][128], and f64[80][80] before it
export const WORD: usize = BAND + 128 * 128 * 8; // u8[256], secret bits
export const DIFFERENCE: usize = WORD + 256; // u8[88], syndrome to decode
export const REMAINDER: usize = DIFFERENCE + 88; // u64[11], register of the division
export const SYNDROMES: usize = REMAINDER + 88; // u16[137], S_1 … S_136
export const LOCATOR: usize = SYNDROMES + 280; // u16[137]
export const PREVIOUS_LOCATOR: usize = LOCATOR + 280; // u16[137]
export const SAVED_LOCATOR: usize = PREVIOUS_LOCATOR + 280; // u16[137]
export const ROOT_LOGS: usize = SAVED_LOCATOR + 280; // u16[69], running logarithms of the root search
export const ERRORS: usize = ROOT_LOGS + 144; // u8[256], error pattern
export const HASH_BLOCKS: usize = ERRORS + 256; // u8[320], padded message
export const HASH_SCHEDULE: usize = HASH_BLOCKS + 320; // u32[64]
export const COARSE_SCORES: usize = HASH_SCHEDULE + 256; // f64[32][2592]
export const COARSE_TERMS: usize = COARSE_SCORES + 32 * 2592 * 8; // f64[2][206], one term for each choice
/**
 * The coarse pass turns at most this many rows of the area table into coefficients across; a taller
 * picture goes without.
 */
export const MAX_COARSE_ROWS: i32 = 1536;
// f64[1536][24], coefficients across of each row of the area table
export const ROW_COEFFICIENTS: usize = COARSE_TERMS + 2 * 208 * 8;
// i32[12], for each move and sign where it was last tried
export const TRIED_MOVES: usize = ROW_COEFFICIENTS + 1536 * 24 * 8;
// 6 × (score, x0, x1, y0, y1, transposed, start entry, coarse score), f64 each
export const CANDIDATE_TABLE: usize = TRIED_MOVES + 64;
export const CANDIDATE_STRIDE: usize = 64;
export const FIXED_END: usize = CANDIDATE_TABLE + 6 * 64;

/** Work areas that `wipe` clears: from the sketches to the end of the fixed part. */
export const WORK_START: usize = SKETCHES;

// Behind the literal tables, sized for each picture (picture.ts):
//   STRIP  u8[rows][width][4]   stored RGBA rows, written by the caller
//   LUMA   u8[height][width]    as seen, cleared once reduced
//   SAT    f64[rows + 1][columns + 1]
