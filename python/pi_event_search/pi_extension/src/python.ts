/**
 * Which program is the server.
 *
 * In this order: the setting `eventSearch.python`, the environment variable PI_EVENT_SEARCH_PYTHON, the
 * interpreter of the environment this package was installed into, the command `pi-event-search` in PATH.
 */
import { accessSync, constants } from "node:fs";
import { basename, delimiter, dirname, isAbsolute, join } from "node:path";

export interface Program {
	command: string;
	args: string[];
}

export interface Surroundings {
	/** Pi's settings, whatever stands in them. */
	settings: unknown;
	env: Record<string, string | undefined>;
	/** The directory of this package, `<site-packages>/pi_event_search/pi_extension`. */
	packageDir: string;
	exists?: (path: string) => boolean;
}

export const HELP =
	"The history search needs the Python it was installed with: set PI_EVENT_SEARCH_PYTHON to the interpreter in which " +
	"pi-event-search is installed, then restart Pi.";

/** The program to start, or undefined where none of the places has one. */
export function findProgram(around: Surroundings): Program | undefined {
	const exists = around.exists ?? isExecutable;
	const named = setting(around.settings) ?? around.env.PI_EVENT_SEARCH_PYTHON;
	if (named) return asPython(named);
	const shipped = interpreters(around.packageDir, around.env).find(exists);
	if (shipped) return asPython(shipped);
	const script = inPath("pi-event-search", around.env).find(exists);
	return script ? { command: script, args: ["serve"] } : undefined;
}

function asPython(command: string): Program {
	return { command, args: ["-m", "pi_event_search", "serve"] };
}

function setting(settings: unknown): string | undefined {
	if (typeof settings !== "object" || settings === null) return undefined;
	const own: unknown = (settings as Record<string, unknown>).eventSearch;
	if (typeof own !== "object" || own === null) return undefined;
	const python: unknown = (own as Record<string, unknown>).python;
	return typeof python === "string" && python ? python : undefined;
}

/** Where the interpreter of an environment is, seen from a package in it. */
function interpreters(packageDir: string, env: Surroundings["env"]): string[] {
	const sitePackages = dirname(dirname(packageDir));
	const library = dirname(sitePackages);
	const name = basename(library);
	if (/^python\d+\.\d+t?$/.test(name)) {
		const bin = join(dirname(dirname(library)), "bin");
		// The directory of user-wide and of distributions' packages has no interpreter: its name says which.
		return [join(bin, name), join(bin, "python3"), ...inPath(name, env)];
	}
	// A source tree: <tree>/python/pi_event_search/pi_extension beside <tree>/.venv
	return [join(dirname(sitePackages), ".venv", "bin", "python")];
}

function inPath(name: string, env: Surroundings["env"]): string[] {
	const directories = (env.PATH ?? "").split(delimiter).filter((directory) => isAbsolute(directory));
	return directories.map((directory) => join(directory, name));
}

function isExecutable(path: string): boolean {
	try {
		accessSync(path, constants.X_OK);
		return true;
	} catch {
		return false;
	}
}
