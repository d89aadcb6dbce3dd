import { useEffect, useRef, useState } from "react";

/**
 * One act at a time: what it gave goes to `onDone`, what went wrong stays to be shown. Nothing is
 * told once the screen is gone.
 */
export function useAct<T>(onDone: (result: T) => void): {
  readonly busy: boolean;
  readonly error: unknown;
  readonly run: (act: () => Promise<T>) => Promise<void>;
} {
  const [acting, setActing] = useState<{ readonly busy: boolean; readonly error: unknown }>({
    busy: false,
    error: null,
  });
  const here = useRef(true);
  useEffect(() => {
    here.current = true;
    return () => {
      here.current = false;
    };
  }, []);
  const run = async (act: () => Promise<T>): Promise<void> => {
    setActing({ busy: true, error: null });
    try {
      const result = await act();
      if (!here.current) return;
      setActing({ busy: false, error: null });
      onDone(result);
    } catch (error) {
      if (here.current) setActing({ busy: false, error });
    }
  };
  return { ...acting, run };
}
