require("@testing-library/jest-dom");

// A busy machine is slow, not wrong: what is waited for may take its time.
jest.setTimeout(60_000);
