/**
 * The memory map: every address of the engine, in bytes. A `usize` is always an address or an
 * offset. build.ts (`--memoryBase`) places the literal tables of tables.ts after FIXED_END. The
 * picture follows these tables; its size changes with each call.
 *
 * DCT … COARSE_TRANSPOSED_COEFFICIENT_INDICES are constant after start. All other areas hold the
 * picture, its bits or results; `wipe` fills them with zeros. Callers pass no addresses, and each
 * index that they pass is checked where it is used.
 */

/** Number of buckets, and of bits in a codeword. */
export const BUCKET_COUNT: i32 = 2047;
/** DCT rows and columns that are kept. GRID_SIZE is the number of cells per side. */
export const FREQUENCY_COUNT: i32 = 80;
export const GRID_SIZE: i32 = 128;
/** The same for the coarse search. */
export const COARSE_FREQUENCY_COUNT: i32 = 24;
export const COARSE_GRID_SIZE: i32 = 48;
/** Buckets whose four coordinates are below COARSE_FREQUENCY_COUNT. */
export const COARSE_BUCKET_COUNT: i32 = 206;
/** Sketches per search. */
export const SKETCH_SLOTS: i32 = 32;
export const CHOICE_BYTES: i32 = 256;
export const SYNDROME_BYTES: i32 = 86;
/** Windows of the coarse search. Each has two entries per sketch: upright and transposed. */
export const COARSE_WINDOW_COUNT: i32 = 1296;
export const COARSE_ENTRY_COUNT: i32 = 2 * COARSE_WINDOW_COUNT;
/** Candidates refined per sketch. */
export const CANDIDATE_COUNT: i32 = 6;

// Tables, filled once at start.
export const DCT: usize = 1024; // f64[80][128], row k: cos(πk(2i+1)/256)·scale
export const DCT_TRANSPOSED: usize = DCT + 80 * 128 * 8; // f64[128][80], the same transposed
export const COARSE_DCT: usize = DCT_TRANSPOSED + 128 * 80 * 8; // f64[24][48]
export const COARSE_DCT_TRANSPOSED: usize = COARSE_DCT + 24 * 48 * 8; // f64[48][24]
export const GF_EXP: usize = COARSE_DCT_TRANSPOSED + 48 * 24 * 8; // u16[4094], α^i twice over
export const GF_LOG: usize = GF_EXP + 4096 * 2; // u16[2048], GF_LOG[0] unused
export const COARSE_BUCKET_NUMBERS: usize = GF_LOG + 2048 * 2; // u16[206], bucket numbers
export const COEFFICIENT_INDICES: usize = COARSE_BUCKET_NUMBERS + 208 * 2; // u16[2047][2], byte offset / 8 of C[v][u]
export const TRANSPOSED_COEFFICIENT_INDICES: usize = COEFFICIENT_INDICES + 2048 * 4; // u16[2047][2], of C[u][v]

/**
 * Left halves of the even and odd rows of DCT. The right half of an even row mirrors the left half;
 * that of an odd row also changes its sign.
 */
export const HALF_FREQUENCY_COUNT: i32 = 40;
export const HALF_GRID_SIZE: i32 = 64;
export const EVEN_DCT: usize = TRANSPOSED_COEFFICIENT_INDICES + 2048 * 4; // f64[40][64]
export const ODD_DCT: usize = EVEN_DCT + 40 * 64 * 8;
export const EVEN_DCT_TRANSPOSED: usize = ODD_DCT + 40 * 64 * 8; // f64[64][40]
export const ODD_DCT_TRANSPOSED: usize = EVEN_DCT_TRANSPOSED + 64 * 40 * 8;
// u16[2047][2], as COEFFICIENT_INDICES, for folded coefficients
export const FOLDED_COEFFICIENT_INDICES: usize = ODD_DCT_TRANSPOSED + 64 * 40 * 8;
export const FOLDED_TRANSPOSED_COEFFICIENT_INDICES: usize = FOLDED_COEFFICIENT_INDICES + 2048 * 4;
// u16[206][2], byte offset / 8 of coarse C[v][u]
export const COARSE_COEFFICIENT_INDICES: usize = FOLDED_TRANSPOSED_COEFFICIENT_INDICES + 2048 * 4;
export const COARSE_TRANSPOSED_COEFFICIENT_INDICES: usize = COARSE_COEFFICIENT_INDICES + 208 * 4;

// Sketches to search for, written by the caller: 32 × (256 choice, 86 syndrome, 10 unused).
export const SKETCHES: usize = COARSE_TRANSPOSED_COEFFICIENT_INDICES + 208 * 4;
export const SKETCH_STRIDE: usize = 352;

// Results: read by the caller.
export const OUT_CHOICE: usize = SKETCHES + 32 * 352; // u8[256]
export const OUT_SYNDROME: usize = OUT_CHOICE + 256; // u8[86], two bytes unused
export const OUT_IMAGE_SECRET: usize = OUT_SYNDROME + 88; // u8[32]
export const OUT_MEASURES: usize = OUT_IMAGE_SECRET + 40; // f64[7]

// Work areas.
export const X_EDGE_INTEGER: usize = OUT_MEASURES + 64; // i32[129], cell edges: whole part
export const X_EDGE_FRACTION: usize = X_EDGE_INTEGER + 136 * 4; // f64[129], their fraction
export const X_CELL_SIZE: usize = X_EDGE_FRACTION + 136 * 8; // f64[128], cell sizes
export const Y_EDGE_INTEGER: usize = X_CELL_SIZE + 136 * 8;
export const Y_EDGE_FRACTION: usize = Y_EDGE_INTEGER + 136 * 4;
export const Y_CELL_SIZE: usize = Y_EDGE_FRACTION + 136 * 8;
// f64[129][129], area table at the cell corners; also scratch of the gate
export const CORNERS: usize = Y_CELL_SIZE + 136 * 8;
export const GRID: usize = CORNERS + 16648 * 8; // f64[128][128]
export const PARTIAL_PRODUCT: usize = GRID + 128 * 128 * 8; // f64[80][128] = D·L; f64[128][80] in the gate
export const COEFFICIENTS: usize = PARTIAL_PRODUCT + 80 * 128 * 8; // f64[80][80]
export const BAND_PASSED: usize = COEFFICIENTS + 80 * 80 * 8; // f64[128][128], and f64[80][80] before it
export const WORD: usize = BAND_PASSED + 128 * 128 * 8; // u8[256], secret bits
export const SYNDROME_DIFFERENCE: usize = WORD + 256; // u8[88], syndrome to decode
export const REMAINDER: usize = SYNDROME_DIFFERENCE + 88; // u64[11], register of the division
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
/** Rows of ROW_COEFFICIENTS. A taller area table is scored window by window. */
export const MAX_COARSE_TABLE_ROWS: i32 = 1536;
// f64[1536][24], horizontal coefficients of each row of the area table
export const ROW_COEFFICIENTS: usize = COARSE_TERMS + 2 * 208 * 8;
// i32[12], stamp of the last try of each move and sign
export const LAST_TRY_STAMPS: usize = ROW_COEFFICIENTS + 1536 * 24 * 8;
// 6 × (score, x0, x1, y0, y1, transposed, start entry, coarse score), f64 each
export const CANDIDATE_TABLE: usize = LAST_TRY_STAMPS + 64;
export const CANDIDATE_STRIDE: usize = 64;
export const FIXED_END: usize = CANDIDATE_TABLE + 6 * 64;

/** `wipe` clears from here to FIXED_END. */
export const WORK_START: usize = SKETCHES;

// After the literal tables, sized for each picture (picture.ts):
//   STRIP  u8[rows][width][4]   stored RGBA rows, written by the caller
//   LUMA   u8[height][width]    after orientation, cleared once reduced
//   SAT    f64[rows + 1][columns + 1]
