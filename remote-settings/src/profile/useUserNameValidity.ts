import type { Me } from "@relicario/shared/api";
import { usePortal } from "@relicario/shared/contract";
import { useQuery } from "@tanstack/react-query";
import { useEffect, useState } from "react";

import { userNameProblemOf, userNameQuery, type UserNameProblem } from "../data/user-name.ts";

/** The service is asked once nobody has typed for so long. */
export const userNamePauseMs = 400;

export interface UserNameValidity {
  /** Valid at first, and until the service says otherwise (specification, section 4). */
  readonly valid: boolean;
  readonly problem: UserNameProblem | null;
}

/** Has the service look at a name as it is typed. */
export function useUserNameValidity(typed: string, { user_name: own }: Pick<Me, "user_name">): UserNameValidity {
  const portal = usePortal();
  const [settled, setSettled] = useState(typed);
  useEffect(() => {
    const timer = setTimeout(() => {
      setSettled(typed);
    }, userNamePauseMs);
    return () => {
      clearTimeout(timer);
    };
  }, [typed]);
  const asked = settled !== own && settled !== "" && settled === typed;
  const { error } = useQuery({ ...userNameQuery(portal, settled), enabled: asked });
  const problem = asked && error !== null ? userNameProblemOf(error) : null;
  return { valid: problem === null, problem };
}
