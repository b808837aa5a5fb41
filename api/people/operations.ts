import type { Operation } from "../operation/operation.ts";
import { askForReset } from "./forgotten-password.ts";
import { getSession, getSignInOptions } from "./get-session.ts";
import {
  createInvitation,
  listInvitations,
  renewInvitation,
  revokeInvitation,
} from "./invitation-operations.ts";
import { lookUpLink } from "./look-up-link.ts";
import { listMembers, makeResetLink, removeMember, updateMember } from "./member-operations.ts";
import { connectOidc, disconnectOidc, startOidcConnection } from "./oidc-operations.ts";
import { signInWithOidc, startOidcSignIn } from "./oidc-sign-in.ts";
import { setPassword, updatePerson } from "./own-person.ts";
import { addPasskey, listPasskeys, removePasskey, startPasskey } from "./passkey-operations.ts";
import { signInWithPasskey, startPasskeySignIn } from "./passkey-sign-in.ts";
import { redeemLink } from "./redeem-link.ts";
import {
  endSession,
  giveSecondFactor,
  listSessions,
  proveAgain,
  signOut,
} from "./session-operations.ts";
import { signIn } from "./sign-in.ts";
import { getSignUpForm, signUp } from "./sign-up-operations.ts";
import { confirmTotp, makeRecoveryCodes, removeTotp, startTotp } from "./totp-operations.ts";

/** Sign-in, sessions, factors, invitations and members. Keys may use none of them. */
export const peopleOperations: readonly Operation[] = [
  getSignInOptions,
  signIn,
  askForReset,
  giveSecondFactor,
  startPasskeySignIn,
  signInWithPasskey,
  startOidcSignIn,
  signInWithOidc,
  proveAgain,
  signOut,
  getSession,
  listSessions,
  endSession,
  updatePerson,
  setPassword,
  startTotp,
  confirmTotp,
  removeTotp,
  makeRecoveryCodes,
  listPasskeys,
  startPasskey,
  addPasskey,
  removePasskey,
  startOidcConnection,
  connectOidc,
  disconnectOidc,
  lookUpLink,
  redeemLink,
  getSignUpForm,
  signUp,
  listInvitations,
  createInvitation,
  renewInvitation,
  revokeInvitation,
  listMembers,
  updateMember,
  removeMember,
  makeResetLink,
];
