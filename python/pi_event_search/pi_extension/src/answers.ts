/** What the server answers, as far as it is shown. */

export interface Coverage {
	state: "ready" | "catching-up" | "partial" | "error";
	indexedSessions: number;
	discoveredSessions: number;
	pendingBytes: number;
	skippedRecords: number;
	problems: { kind: string; count: number }[];
}

export interface Hit {
	sessionId: string;
	sessionName?: string;
	cwd: string;
	entryId: string;
	entryType: string;
	matchingFragmentId: string;
	semanticKind: string;
	toolName?: string;
	isError?: boolean;
	timestamp: string;
	branchState: string;
	selectionState: string;
	snippet: string;
	highlights: { start: number; end: number }[];
	matchingFragmentCount: number;
	alsoIn?: string[];
	alsoInTotal?: number;
}

export interface SearchPage {
	hits: Hit[];
	coverage: Coverage;
	diagnostics?: {
		terms: { term: string; events: number; atLeast?: boolean }[];
		withoutFilters: number;
		currentSessionExcluded: boolean;
	};
}

export interface TextPreview {
	text: string;
	totalChars: number;
	omittedRanges: { start: number; end: number }[];
	truncated: boolean;
}

export interface Ref {
	sessionId: string;
	entryId: string;
}

export interface Node extends Ref {
	entryType: string;
	timestamp: string;
	branchState: string;
	selectionState: string;
	preview: TextPreview;
}

export interface Event extends Ref {
	entryType: string;
	timestamp: string;
	parentId: string | null;
	branchState: string;
	selectionState: string;
	role: string | null;
	label?: string;
	attributes: Record<string, string | number | boolean>;
	fragments: {
		fragmentId: string;
		semanticKind: string;
		toolName?: string;
		isError?: boolean;
		preview: TextPreview;
	}[];
	fragmentCoverage: { total: number; returned: number; omitted: number };
	omissions: { kind: string; count: number }[];
	neighbors: {
		order: string;
		before: Node[];
		after: Node[];
		forks: { kind: string; at: Ref; candidates: Ref[]; chosen?: Ref }[];
	};
	source: { state: "exact" | "modified" | "missing" };
	coverage: Coverage;
}

export interface Edge {
	type: string;
	from: Ref;
	to: Ref | { fileRef: string };
	inferred: boolean;
	derived: boolean;
	detail?: string;
	targetBranchState?: string;
	leadsToMaterializedLeaf?: boolean;
	preview?: TextPreview;
}

export interface Trace {
	target: Node;
	parent?: Edge;
	children: Edge[];
	branchSiblings: Edge[];
	related: Edge[];
	truncated: boolean;
}
