/** SHA-256 (FIPS 180-4) of "RIE1/w" ‖ 256 bytes: the image secret. */
import { HASH_BLOCKS, HASH_SCHEDULE } from "./memory";

const ROUND_CONSTANTS: usize = memory.data<u32>([
  0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5, 0xd807aa98,
  0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786,
  0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8,
  0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13,
  0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819,
  0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a,
  0x5b9cca4f, 0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7,
  0xc67178f2,
]);

const MESSAGE_BYTES: usize = 6 + 256;
const PADDED_BYTES: usize = 320;

/** Hashes "RIE1/w" and the 256 bytes at `word`; 32 bytes out. */
export function computeImageSecret(word: usize, out: usize): void {
  memory.fill(HASH_BLOCKS, 0, PADDED_BYTES);
  store<u32>(HASH_BLOCKS, 0x31454952); // "RIE1"
  store<u16>(HASH_BLOCKS, 0x772f, 4); // "/w"
  memory.copy(HASH_BLOCKS + 6, word, 256);
  store<u8>(HASH_BLOCKS + MESSAGE_BYTES, 0x80);
  store<u32>(HASH_BLOCKS + PADDED_BYTES - 4, bswap<u32>((<u32>MESSAGE_BYTES) << 3));

  let h0: u32 = 0x6a09e667,
    h1: u32 = 0xbb67ae85,
    h2: u32 = 0x3c6ef372,
    h3: u32 = 0xa54ff53a;
  let h4: u32 = 0x510e527f,
    h5: u32 = 0x9b05688c,
    h6: u32 = 0x1f83d9ab,
    h7: u32 = 0x5be0cd19;
  for (let block = HASH_BLOCKS; block < HASH_BLOCKS + PADDED_BYTES; block += 64) {
    for (let i: usize = 0; i < 64; i += 4) store<u32>(HASH_SCHEDULE + i, bswap(load<u32>(block + i)));
    for (let i: usize = 64; i < 256; i += 4) {
      const w15 = load<u32>(HASH_SCHEDULE + i - 60);
      const w2 = load<u32>(HASH_SCHEDULE + i - 8);
      const s0 = rotr(w15, 7) ^ rotr(w15, 18) ^ (w15 >> 3);
      const s1 = rotr(w2, 17) ^ rotr(w2, 19) ^ (w2 >> 10);
      store<u32>(HASH_SCHEDULE + i, load<u32>(HASH_SCHEDULE + i - 64) + s0 + load<u32>(HASH_SCHEDULE + i - 28) + s1);
    }
    let a = h0,
      b = h1,
      c = h2,
      d = h3,
      e = h4,
      f = h5,
      g = h6,
      h = h7;
    for (let i: usize = 0; i < 256; i += 4) {
      const t1 =
        h +
        (rotr(e, 6) ^ rotr(e, 11) ^ rotr(e, 25)) +
        ((e & f) ^ (~e & g)) +
        load<u32>(ROUND_CONSTANTS + i) +
        load<u32>(HASH_SCHEDULE + i);
      const t2 = (rotr(a, 2) ^ rotr(a, 13) ^ rotr(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
      h = g;
      g = f;
      f = e;
      e = d + t1;
      d = c;
      c = b;
      b = a;
      a = t1 + t2;
    }
    h0 += a;
    h1 += b;
    h2 += c;
    h3 += d;
    h4 += e;
    h5 += f;
    h6 += g;
    h7 += h;
  }
  store<u32>(out, bswap(h0));
  store<u32>(out, bswap(h1), 4);
  store<u32>(out, bswap(h2), 8);
  store<u32>(out, bswap(h3), 12);
  store<u32>(out, bswap(h4), 16);
  store<u32>(out, bswap(h5), 20);
  store<u32>(out, bswap(h6), 24);
  store<u32>(out, bswap(h7), 28);
  memory.fill(HASH_BLOCKS, 0, PADDED_BYTES);
  memory.fill(HASH_SCHEDULE, 0, 256);
}
